/** How long a run waits for its next worker: after `kill -9`, and after a stop, where only the lease tells. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRuntime, createWorker } from "toolwright";
import type { Row } from "./bench.ts";

const LEASE_MS = 2_000;
const GOAL_MS = LEASE_MS + 2_000;

async function takeover(store: string, how: "SIGKILL" | "SIGSTOP"): Promise<number> {
  await using runtime = createRuntime({ store });
  const runId = `stuck ${how}`;
  const child = spawn(process.execPath, [new URL("./worker-process.ts", import.meta.url).pathname, store], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const taken = once(child.stdout, "data");
    await runtime.enqueue("stuck", { kind: "program", runId });
    await taken;
    const again = Promise.withResolvers<number>();
    await using worker = createWorker({
      runtime,
      programs: { stuck: () => again.resolve(performance.now()) },
      leaseMs: LEASE_MS,
    });
    await worker.start();
    const from = performance.now();
    child.kill(how);
    return (await again.promise) - from;
  } finally {
    child.kill("SIGKILL");
  }
}

export async function takeoverRows(name: string, store: string): Promise<Row[]> {
  return [
    {
      what: `${name}: takeover after kill -9`,
      value: await takeover(store, "SIGKILL"),
      unit: "ms",
      target: GOAL_MS,
    },
    {
      what: `${name}: takeover after a stop, lease ${LEASE_MS / 1_000} s`,
      value: await takeover(store, "SIGSTOP"),
      unit: "ms",
      target: GOAL_MS,
    },
  ];
}

/**
 * Three workers and a server, as processes of this machine, on a SQLite file or, with DATABASE_URL, on PostgreSQL. Orders are
 * started over HTTP. One worker is killed in the middle of a call, another one drains. Every order is charged once per step.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import { TOOLWRIGHT } from "../toolwright-command.ts";

const ORDERS = ["a", "b", "c", "d"];
const TOKEN = "a-token-for-this-example";

interface Charge {
  readonly order: string;
  readonly step: number;
  readonly key: string;
  readonly worker: number;
}

/** The service outside. It charges once per idempotency key, and is slow for the first request. */
const charges: Charge[] = [];
const receipts = new Map<string, number>();
const victim = Promise.withResolvers<number>();
const ledger = createServer((request, response) => {
  void (async () => {
    const charge = (await json(request)) as Charge;
    charges.push(charge);
    if (!receipts.has(charge.key)) receipts.set(charge.key, receipts.size + 1);
    // The first caller gets no answer: its worker is killed while it waits.
    if (charges.length === 1) victim.resolve(charge.worker);
    else response.end(JSON.stringify({ receipt: receipts.get(charge.key) }));
  })();
});
ledger.listen(0, "127.0.0.1");
await once(ledger, "listening");

const folder = mkdtempSync(join(tmpdir(), "toolwright-deployment-"));
for (const file of ["toolwright.config.ts", "order.tsx"])
  cpSync(join(import.meta.dirname, file), join(folder, file));
const env = {
  ...process.env,
  LEDGER_URL: `http://127.0.0.1:${(ledger.address() as AddressInfo).port}`,
  TOOLWRIGHT_TOKEN: TOKEN,
};
const children: ChildProcess[] = [];
/** The processes' output besides their results, to show on a failure. */
const said: string[] = [];

/** Resolves with the line that contains the text. */
async function start(args: readonly string[], text: string): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [TOOLWRIGHT, ...args], { cwd: folder, env });
  child.stderr.on("data", (part: Buffer) => said.push(part.toString()));
  children.push(child);
  for await (const line of createInterface(child.stdout)) if (line.includes(text)) return { child, line };
  throw new Error(`toolwright ${args.join(" ")} ended early`);
}

try {
  const { line } = await start(["serve", "--port", "0"], "Serving");
  const server = /at (http:\/\/\S+)/.exec(line)?.[1] ?? "";
  const api = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${server}/api/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const workers = await Promise.all(
    [1, 2, 3].map(() =>
      start(["worker", "--concurrency", "2", "--lease-ms", "2000", "--health-port", "0"], "Health:"),
    ),
  );
  console.log(`One server and ${workers.length} workers are running.`);
  const { workers: listed } = await api("/workers");
  assert.equal((listed as unknown[]).length, 3);

  for (const order of ORDERS)
    await api("/runs", { workflow: "order", input: { order }, runId: `order-${order}` });
  const pid = await victim.promise;
  const killed = workers.find(({ child }) => child.pid === pid);
  killed?.child.kill("SIGKILL");
  console.log("The worker of the first order was killed in the middle of a call.");
  const drained = workers.find((one) => one !== killed);
  drained?.child.kill("SIGTERM");
  assert.deepEqual(drained && (await once(drained.child, "exit")), [0, null]);
  console.log("Another worker has drained, and exited with 0.");

  const statuses = async (): Promise<unknown[]> =>
    Promise.all(ORDERS.map(async (order) => (await api(`/runs/order-${order}`))["status"]));
  while ((await statuses()).some((status) => status !== "finished")) {
    const failed = (await statuses()).includes("failed");
    assert.ok(!failed, "an order failed");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const keys = new Map<string, Set<string>>();
  for (const { order, step, key } of charges) {
    const name = `${order} ${step}`;
    keys.set(name, (keys.get(name) ?? new Set()).add(key));
  }
  assert.equal(keys.size, 3 * ORDERS.length);
  assert.ok([...keys.values()].every(({ size }) => size === 1));
  console.log(`${ORDERS.length} orders are finished; each of their ${keys.size} steps was charged once.`);
} catch (error) {
  console.error(said.join(""));
  throw error;
} finally {
  for (const child of children) child.kill("SIGKILL");
  ledger.closeAllConnections();
  ledger.close();
  rmSync(folder, { recursive: true, force: true });
}

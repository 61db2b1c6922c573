/** Runs one measurement in its own process. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { atExit } from "../../test/at-exit.ts";
import type { Report, Task } from "./one.ts";

const PROGRAM = fileURLToPath(new URL("./one.ts", import.meta.url));

export interface Running {
  readonly kill: () => void;
  /** A report; `"killed"` by `kill`; or why there is none. */
  readonly result: Promise<Report | "killed" | { readonly failure: string }>;
}

export function startTask(task: Task, timeoutMs: number): Running {
  const child = fork(PROGRAM, [JSON.stringify(task)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { ...process.env, MASTRA_TELEMETRY_DISABLED: "1", LANGSMITH_TRACING: "false" },
  });
  const kill = atExit(() => void child.kill("SIGKILL"));
  let errors = "";
  let report: Report | undefined;
  let isKilled = false;
  let isLate = false;
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = (errors + String(chunk)).slice(-20_000);
  });
  child.on("message", (message) => {
    report = message as Report;
  });
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  const result = new Promise<Awaited<Running["result"]>>((resolve) => {
    child.once("close", () => {
      clearTimeout(timer);
      kill();
      if (report !== undefined) resolve(report);
      else if (isKilled) resolve("killed");
      else if (isLate) resolve({ failure: `It was not done after ${timeoutMs / 1_000} s.` });
      else resolve({ failure: reasonOf(errors) });
    });
  });
  return {
    kill: () => {
      isKilled = true;
      child.kill("SIGKILL");
    },
    result,
  };
}

/** The message of the error, without paths of this machine. */
function reasonOf(errors: string): string {
  const lines = errors.split("\n").map((line) => line.trim());
  const line =
    lines.find((each) => /^(?:[A-Z]\w*)?Error\b|^FATAL/.test(each)) ?? "It ended without a result.";
  return line.replaceAll(/(?:file:\/\/)?(?:\/[\w.@-]+){2,}/g, "…").slice(0, 200);
}

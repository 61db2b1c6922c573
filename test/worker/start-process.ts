/** Starts workers as separate processes. They end with their test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished, vi } from "vitest";
import { bundled } from "../started-programs.ts";
import type { WorkerProcessInput } from "./programs/worker-process.ts";

// Two workers take ten seconds to start on a new PostgreSQL database while other tests run.
vi.setConfig({ testTimeout: 180_000 });

export interface WorkerProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Resolves when the process has ended, with its exit code. */
  readonly ended: Promise<number | null>;
  /** Resolves when it prints this line. */
  says(line: string): Promise<void>;
  signal(name: NodeJS.Signals): void;
}

export function startProcess(input: WorkerProcessInput): Promise<WorkerProcess> {
  return startProgram("worker-process.ts", input);
}

/** A program of this folder that takes one argument, in JSON, and prints "started". */
export async function startProgram(program: string, input: object): Promise<WorkerProcess> {
  const file = bundled(join(import.meta.dirname, "programs", program));
  const child = spawn(process.execPath, [file, JSON.stringify(input)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const { pid = 0 } = child;
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await ended;
  });
  const printed = new Set<string>();
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => printed.add(line));
  const says = async (line: string): Promise<void> => {
    while (!printed.has(line)) await Promise.race([once(lines, "line"), ended.then(() => printed.add(line))]);
  };
  await says("started");
  return { pid, child, ended, says, signal: (name) => void child.kill(name) };
}

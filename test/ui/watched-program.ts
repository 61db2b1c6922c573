/** Runs `programs/watched.ts` in its own process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { bundled } from "../started-programs.ts";

export interface WatchedProgram {
  /** Sends a line, and resolves with the line that the program prints next. */
  send(line: string): Promise<string>;
  kill(): Promise<void>;
  end(): Promise<void>;
}

export function startWatched(store: string, runId: string): WatchedProgram {
  const program = bundled(new URL("programs/watched.ts", import.meta.url));
  const child = spawn(process.execPath, [program, store, runId], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    send: async (line) => {
      child.stdin.write(`${line}\n`);
      const { value } = await lines.next();
      return value ?? "";
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
    end: async () => {
      child.stdin.end("end\n");
      await exited;
    },
  };
}

/** Starts the processes of a soak and brings their fate on them: kills, stops and terminations. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CRASH_VARIABLE } from "../../src/testing/crash/crash-point.ts";
import { atExit } from "../at-exit.ts";
import type { Ledger } from "./ledger.ts";
import type { ProcessPlan, Role } from "./plan.ts";
import type { SoakInput } from "./programs/soak-process.ts";
import type { Tally } from "./tally.ts";

export interface SoakProcess {
  readonly name: string;
  /** Resolves with its address when it works, or with `undefined` if it ended before. */
  readonly ready: Promise<string | undefined>;
  readonly ended: Promise<ProcessEnd>;
  /** No more faults: a stopped process continues. */
  spare(): void;
  signal(name: NodeJS.Signals): void;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

export interface StartOptions {
  /** `<store>/<slot>/<incarnation>`. */
  readonly name: string;
  readonly role: Role;
  readonly file: string;
  readonly plan: ProcessPlan;
  readonly input: Omit<SoakInput, "clock" | "fullDisk" | "shopUrl">;
  readonly ledger: Ledger;
  readonly tally: Tally;
}

const LONGEST_STDERR = 4_000;

export function startProcess({ name, role, file, plan, input, ledger, tally }: StartOptions): SoakProcess {
  const { fate } = plan;
  const given: SoakInput = {
    ...input,
    clock: plan.clock,
    fullDisk: plan.fullDisk,
    shopUrl: ledger.urlFor(name),
  };
  const child = spawn(process.execPath, [file, JSON.stringify(given)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {
      ...process.env,
      NODE_NO_WARNINGS: "1",
      [CRASH_VARIABLE]: fate.kind === "kill-at-point" ? `${fate.point}:${fate.occurrence}` : "",
    },
  });
  // A stopped process does not notice that the soak has ended.
  const kill = atExit(() => void child.kill("SIGKILL"));
  tally.trace(`${name} starts for ${fate.kind}${input.runId === "" ? "" : ` with ${input.runId}`}`);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-LONGEST_STDERR);
  });
  const ended = once(child, "exit").then(([code, signal]): ProcessEnd => {
    kill();
    over.abort();
    ledger.forget(name);
    if (signal === "SIGKILL") {
      tally.count("kills");
      tally.count(`kills of a ${role}`);
    }
    tally.trace(`${name} ended with ${signal ?? code}`);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, stderr };
  });
  const ready = Promise.race([
    once(child, "message").then(([message]) => readyUrl(child, message)),
    ended.then(() => undefined),
  ]);
  const over = new AbortController();
  void bringFate({ child, name, plan, ready, ledger, tally }, over.signal);
  return {
    name,
    ready,
    ended,
    spare: () => {
      over.abort();
      ledger.forget(name);
      child.kill("SIGCONT");
    },
    signal: (signal) => void child.kill(signal),
  };
}

/** The runtime reports itself first; see `createCrashableRuntime`. */
async function readyUrl(child: ChildProcess, message: unknown): Promise<string | undefined> {
  if (typeof message === "object" && message !== null && "ready" in message) return String(message.ready);
  const ended = once(child, "exit").then(() => [undefined]);
  const [next] = (await Promise.race([once(child, "message"), ended])) as [unknown];
  return next === undefined ? undefined : readyUrl(child, next);
}

interface FateOptions {
  readonly child: ChildProcess;
  readonly name: string;
  readonly plan: ProcessPlan;
  readonly ready: Promise<string | undefined>;
  readonly ledger: Ledger;
  readonly tally: Tally;
}

async function bringFate(
  { child, name, plan: { fate }, ready, ledger, tally }: FateOptions,
  signal: AbortSignal,
): Promise<void> {
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal });
  const hit = (with_: NodeJS.Signals): void => {
    tally.trace(`${name} gets ${with_}`);
    child.kill(with_);
  };
  try {
    if (fate.kind === "kill-early") {
      await pause(fate.afterMs);
      hit("SIGKILL");
      return;
    }
    if (fate.kind === "kill-at-order") ledger.at(name, fate.nth, fate.moment, () => hit("SIGKILL"));
    if (!("afterMs" in fate)) return;
    await ready;
    await pause(fate.afterMs);
    if (fate.kind === "terminate") {
      tally.count("terminations");
      hit("SIGTERM");
    } else if (fate.kind === "stop") {
      tally.count("stops");
      hit("SIGSTOP");
      await pause(fate.forMs);
      hit("SIGCONT");
    } else hit("SIGKILL");
  } catch {
    // It has ended, or is spared.
  }
}

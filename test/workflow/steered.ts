/** Processes that run workflows on command. */
import { type ChildProcess, spawn } from "node:child_process";
import { bundled } from "../started-programs.ts";
import type { SteeringCommand, SteeringNews } from "./programs/steered-workflow.ts";

const PROGRAM = bundled(new URL("./programs/steered-workflow.ts", import.meta.url));

export interface Steered extends AsyncDisposable {
  readonly name: string;
  readonly child: ChildProcess;
  tell(command: SteeringCommand): void;
  /** The next message of this type, including one already received. Rejects when the process ends without it. */
  next<T extends SteeringNews["type"]>(type: T): Promise<Extract<SteeringNews, { type: T }>>;
  /** Resumes a run, and returns its result. */
  resume(runId: string): Promise<string>;
  ended(): Promise<void>;
}

export async function startSteered(name: string, store: string, shopUrl: string): Promise<Steered> {
  const child = spawn(process.execPath, [PROGRAM, name, store, shopUrl], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const heard: SteeringNews[] = [];
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resume of woken) resume();
  };
  let hasEnded = false;
  const end = new Promise<void>((resolve) => {
    child.once("close", () => {
      hasEnded = true;
      wake();
      resolve();
    });
  });
  child.on("message", (news: SteeringNews) => {
    heard.push(news);
    wake();
  });
  const steered: Steered = {
    name,
    child,
    tell: (command) => child.send(command),
    async next(type) {
      for (;;) {
        const index = heard.findIndex((news) => news.type === type);
        const [news] = index < 0 ? [] : heard.splice(index, 1);
        if (news !== undefined) return news as Extract<SteeringNews, { type: typeof type }>;
        if (hasEnded) throw new Error(`${name} ended without saying "${type}"`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    async resume(runId) {
      steered.tell({ type: "run", runId, resume: true });
      return (await steered.next("ended")).end;
    },
    ended: () => end,
    async [Symbol.asyncDispose]() {
      // A stopped process does not receive messages.
      child.kill("SIGCONT");
      // Neither does a killed one, which may look connected for a while.
      if (child.connected) child.send({ type: "leave" } satisfies SteeringCommand, () => undefined);
      setTimeout(() => child.kill("SIGKILL"), 5_000).unref();
      await end;
    },
  };
  await steered.next("ready");
  return steered;
}

/**
 * One round: a few runs of random programs over random tools, on several processes that are killed, cut off from their
 * store, aborted and swept by retention. At the end the round compares the outside world with what the programs received.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime, type Runtime, type Store, ToolwrightError } from "../../src/index.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { all, change } from "../../src/store/statement.ts";
import { type FuzzProcess, Outside } from "./outside.ts";
import { Random } from "../random.ts";
import { createTools, type FuzzTool } from "./tools.ts";

export interface RoundOptions {
  readonly seed: number;
  /** Another connection to the same database. */
  readonly open: () => Promise<Store>;
}

const LONGEST_PASS_MS = 60_000;
const MOST_PASSES = 60;
const HELD_PAUSE_MS = 100;

/** @throws an error that names lost, repeated or stuck effects, with the seed */
export async function runRound({ seed, open }: RoundOptions): Promise<void> {
  const opened: Store[] = [];
  const keep = async (): Promise<Store> => {
    const store = await open();
    opened.push(store);
    return store;
  };
  try {
    await new Round(new Random(seed), await keep(), keep).run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${reason}`, { cause: error });
  } finally {
    for (const store of opened) await store.close();
  }
}

interface Step {
  readonly used: FuzzTool;
  readonly item: string;
}

/** Steps of one stage run concurrently. */
type Program = readonly (readonly Step[])[];

interface Process extends FuzzProcess {
  readonly runtime: Runtime;
  readonly ownerId: string;
  isCutOff: boolean;
  /** Its transactions are committed, but it gets an error instead of the answer. */
  isDeaf: boolean;
}

class Round {
  readonly #random: Random;
  readonly #store: Store;
  readonly #open: () => Promise<Store>;
  /** A trace of events, in order: a failing round does not always fail again. */
  readonly #trace: string[] = [];
  readonly #outside = new Outside((name) => this.#trace.push(`effect ${name}`));
  readonly #tools: readonly FuzzTool[];
  readonly #processes: Process[] = [];
  /** The effects whose success a program received. */
  readonly #told = new Set<string>();

  constructor(random: Random, store: Store, open: () => Promise<Store>) {
    this.#random = random;
    this.#store = store;
    this.#open = open;
    this.#tools = createTools(random, this.#outside);
  }

  async run(): Promise<void> {
    const runs = Array.from({ length: 1 + this.#random.below(3) }, (_, n) => `run-${n}`);
    await Promise.all(runs.map((runId) => this.#drive(runId, this.#random.fork(runId))));
    await this.#end();
    this.#judge();
    await this.#judgeStore();
  }

  #program(runId: string, random: Random): Program {
    return Array.from({ length: 1 + random.below(3) }, (_stage, stage) =>
      Array.from({ length: 1 + random.below(3) }, (_step, n): Step[] => {
        const used = random.pick(this.#tools);
        // Business keys apply across runs.
        const item = used.kind === "business" ? `order-${random.below(3)}` : `${runId}-${stage}-${n}`;
        const isTwice = used.kind === "keyed" && random.chance(0.2);
        return isTwice
          ? [
              { used, item },
              { used, item },
            ]
          : [{ used, item }];
      }).flat(),
    );
  }

  /** Restarts the program, as a supervisor would, until it ends. */
  async #drive(runId: string, random: Random): Promise<void> {
    const program = this.#program(runId, random);
    let attempt = 1;
    const ends: string[] = [];
    for (let pass = 0; pass < MOST_PASSES; pass += 1) {
      const isQuiet = pass > MOST_PASSES / 2;
      const process = await this.#process(random, isQuiet);
      const chaos = isQuiet ? undefined : this.#chaos(process, random);
      const work = process.runtime.run({ runId, attempt, signal: chaos?.signal }, () =>
        this.#runProgram(program, process),
      );
      const end = await Promise.race([
        work.then(
          () => "ended" as const,
          (error: unknown) => error,
        ),
        sleep(LONGEST_PASS_MS, "stuck" as const, { ref: false }),
      ]);
      await chaos?.over();
      if (end === "stuck") throw new Error(`${runId} is stuck in pass ${pass}`);
      if (end === "ended") return;
      if (isDeleted(end)) return;
      ends.push(`attempt ${attempt}: ${String(end)}`);
      this.#trace.push(`${runId} ${ends.at(-1)}`);
      if (isStale(end)) attempt += 1;
      // A process that was cut off releases its task when it reconnects, not immediately.
      if (isHeld(end)) await sleep(HELD_PAUSE_MS);
      await this.#decide(runId, random);
      if (random.chance(0.15)) attempt += 1;
    }
    throw new Error(
      `${runId} did not come to its end in ${MOST_PASSES} passes: ${ends.slice(-5).join("; ")}`,
    );
  }

  async #runProgram(program: Program, process: Process): Promise<void> {
    for (const stage of program) {
      const ends = await Promise.all(stage.map((step) => this.#step(step)));
      const open = ends.find((end) => end !== undefined);
      if (open !== undefined) throw open;
      if (!process.isAlive) throw new Error("killed");
    }
  }

  /** Throws the error of a call that has not ended; final errors are ignored, as a program may. */
  async #step({ used, item }: Step): Promise<unknown> {
    try {
      await used.tool.execute({ item });
      if (used.kind !== "pure") this.#told.add(`${used.tool.name} ${item}`);
      return undefined;
    } catch (error) {
      return isEnd(error) ? undefined : error;
    }
  }

  async #process(random: Random, isQuiet: boolean): Promise<Process> {
    const living = this.#processes.filter(({ isAlive }) => isAlive);
    if (living.length > 0 && (living.length >= 3 || random.chance(0.5))) return random.pick(living);
    const state = { isAlive: true, isCutOff: false, isDeaf: false };
    const limits = random.chance(0.3) && !isQuiet ? { maxParallelTools: 1 + random.below(3) } : {};
    const runtime = createRuntime({
      store: cutOffStore(await this.#open(), state),
      capabilities: { process: state },
      toolTimeoutMs: 2_000,
      limits,
    });
    runtime.subscribe((event) => this.#trace.push(JSON.stringify(event)));
    await runtime.ready();
    const process = Object.assign(state, { runtime, ownerId: (await hostOf(runtime)).ownerId });
    this.#processes.push(process);
    return process;
  }

  /** What happens to a process while it works. */
  #chaos(process: Process, random: Random): { signal: AbortSignal; over(): Promise<void> } {
    const abort = new AbortController();
    const isOver = new AbortController();
    const later = async (ms: number, work: () => unknown): Promise<void> => {
      try {
        await sleep(ms, undefined, { signal: isOver.signal });
        await work();
      } catch {
        // The pass has already ended.
      }
    };
    const events: Promise<void>[] = [];
    if (random.chance(0.25)) events.push(later(random.below(40), () => this.#kill(process)));
    if (random.chance(0.2)) events.push(later(random.below(40), () => abort.abort(new Error("cancelled"))));
    if (random.chance(0.2)) {
      events.push(
        later(random.below(30), async () => {
          process.isCutOff = true;
          await sleep(random.below(30));
          process.isCutOff = false;
        }),
      );
    }
    if (random.chance(0.2)) {
      events.push(
        later(random.below(30), async () => {
          process.isDeaf = true;
          await sleep(random.below(30));
          process.isDeaf = false;
        }),
      );
    }
    if (random.chance(0.2)) {
      events.push(later(random.below(30), () => this.#sweep(random.chance(0.5) ? 0 : 20)));
    }
    return {
      signal: abort.signal,
      over: async () => {
        isOver.abort();
        await Promise.all(events);
      },
    };
  }

  async #kill(process: Process): Promise<void> {
    this.#trace.push("kill");
    process.isAlive = false;
    process.isCutOff = true;
    await this.#store.transaction(
      () => change("UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = ?1", process.ownerId),
      "normal",
    );
  }

  async #sweep(olderThanMs: number): Promise<void> {
    await using runtime = createRuntime({ store: await this.#open() });
    await runtime.gc({ olderThanMs, replayOlderThanMs: 1_000_000 });
  }

  /** An approver who checks the outside world before a decision. */
  async #decide(runId: string, random: Random): Promise<void> {
    await using runtime = createRuntime({ store: await this.#open() });
    for (const request of await runtime.approvals({ runId, status: "pending" })) {
      const { item } = request.args as { item: string };
      const hasHappened = this.#outside.count(`${request.toolName} ${item}`) > 0;
      const decision =
        request.kind === "call"
          ? { approved: random.chance(0.8) }
          : hasHappened
            ? { resolution: "happened" as const, output: { item } }
            : { resolution: random.chance(0.8) ? ("run-again" as const) : ("give-up" as const) };
      this.#trace.push(`decision ${request.toolName} ${item} ${JSON.stringify(decision)}`);
      try {
        await runtime.resolveToolApproval(request.id, decision);
      } catch (error) {
        // Another process was faster, or the call has ended meanwhile.
        if (!ToolwrightError.is(error) || error.code !== "TOOL_APPROVAL_SETTLED") throw error;
      }
    }
  }

  async #end(): Promise<void> {
    const living = this.#processes.filter(({ isAlive }) => isAlive);
    const disposed = Promise.all(living.map(({ runtime }) => runtime[Symbol.asyncDispose]()));
    const end = await Promise.race([disposed, sleep(LONGEST_PASS_MS, "stuck" as const, { ref: false })]);
    if (end === "stuck") throw new Error("a runtime cannot be disposed of");
  }

  #judge(): void {
    const faults: string[] = [];
    for (const { tool, kind } of this.#tools) {
      if (kind === "pure" || kind === "idempotent") continue;
      const effects = this.#outside.names.filter((name) => name.startsWith(`${tool.name} `));
      for (const name of effects) {
        const count = this.#outside.count(name);
        const most = kind === "keyed" ? 2 : 1;
        if (count > most) faults.push(`${name} happened ${count} times`);
      }
    }
    for (const name of this.#told) {
      if (this.#outside.count(name) === 0) faults.push(`${name} was reported and did not happen`);
    }
    if (faults.length > 0) throw new Error([...faults, ...this.#trace].join("\n"));
  }

  /** A live process holds nothing at the end. */
  async #judgeStore(): Promise<void> {
    const living = new Set(this.#processes.flatMap(({ isAlive, ownerId }) => (isAlive ? [ownerId] : [])));
    const held = await this.#store.read(function* () {
      const calls = yield* all("SELECT tool_name, owner_id FROM toolwright_calls WHERE status = 'started'");
      const reservations = yield* all("SELECT name AS tool_name, owner_id FROM toolwright_reservations");
      return [...calls, ...reservations];
    });
    const left = held.filter(({ owner_id: ownerId }) => living.has(String(ownerId)));
    if (left.length > 0) throw new Error(`left behind: ${JSON.stringify(left)}`);
  }
}

/** A store that can be disconnected from its process. */
function cutOffStore(store: Store, process: Pick<Process, "isCutOff" | "isDeaf">): Store {
  const check = (): void => {
    if (process.isCutOff) throw new ToolwrightError("TOOL_STORE_FAILED", "cut off from the store");
  };
  return {
    dialect: store.dialect,
    secret: store.secret,
    async transaction(work, level) {
      check();
      const result = await store.transaction(work, level);
      if (process.isDeaf) throw new ToolwrightError("TOOL_STORE_FAILED", "the answer was lost");
      return result;
    },
    async read(work) {
      check();
      return store.read(work);
    },
    close: () => store.close(),
  };
}

const UNENDED = new Set([
  "TOOL_APPROVAL_PENDING",
  "TOOL_STORE_FAILED",
  "TOOL_RUN_FENCED",
  "TOOL_RUN_CONFLICT",
  "TOOL_ATTEMPT_STALE",
  "TOOL_ABORTED",
  "TOOL_RUN_DELETED",
]);

/** Whether an error ends its call, and not the process or the pass. */
function isEnd(error: unknown): boolean {
  return ToolwrightError.is(error) && !UNENDED.has(error.code);
}

function isStale(error: unknown): boolean {
  return ToolwrightError.is(error) && error.code === "TOOL_ATTEMPT_STALE";
}

function isHeld(error: unknown): boolean {
  return (
    ToolwrightError.is(error) && (error.code === "TOOL_RUN_CONFLICT" || error.code === "TOOL_STORE_FAILED")
  );
}

function isDeleted(error: unknown): boolean {
  return ToolwrightError.is(error) && error.code === "TOOL_RUN_DELETED";
}

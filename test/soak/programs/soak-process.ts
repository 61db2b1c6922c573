/** The setup of every process of a soak: its input, a runtime with crash points and a clock that jumps, and the tools. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Runtime, type Tool, ToolwrightError } from "../../../src/index.ts";
import { hostOf } from "../../../src/runtime/create-runtime.ts";
import { all } from "../../../src/store/statement.ts";
import { createCrashableRuntime } from "../../../src/testing/crash/crashable-runtime.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { createOrderTool, TOOL_KINDS, type ToolKind } from "../../crash/programs/shop-tools.ts";
import { type ClockPlan, type ProcessPlan, SETTLE_MS, type Step } from "../plan.ts";

export interface SoakInput {
  readonly store: string;
  readonly shopUrl: string;
  readonly modelUrl: string;
  readonly rootDir: string;
  readonly clock: ClockPlan;
  readonly fullDisk: ProcessPlan["fullDisk"];
  /** Of a worker: names end in it, so that each group of workers has jobs of its own. */
  readonly suffix: string;
  readonly leaseMs: number;
  /** Of a script. */
  readonly runId: string;
  readonly steps: readonly Step[];
}

/** Of the HTTP API: for loopback, and for one soak. */
export const TOKEN = "token-of-the-soak-operator";

/** The database cannot be reached: the process ends, and is started again. */
export const EXIT_STORE_FAILED = 75;
/** A call waits for approval. */
export const EXIT_WAITING = 76;

export type OrderTools = Readonly<Record<ToolKind, Tool<{ sku: string }, { id: number }>>>;

export function readInput(): SoakInput {
  // The soak has ended, or was killed: nothing may be left behind.
  process.on("disconnect", () => process.exit(EXIT_STORE_FAILED));
  return JSON.parse(process.argv[2] ?? "") as SoakInput;
}

/** Notifies the soak that the process works. @param url of a server */
export function reportReady(url = ""): void {
  process.send?.({ ready: url });
}

export function openRuntime({ store, clock, fullDisk, rootDir }: SoakInput): Runtime {
  letClockJump(clock);
  const runtime = createCrashableRuntime({ store, rootDir });
  if (fullDisk !== null) void fillConnection(runtime, fullDisk);
  return runtime;
}

/** The clock of this machine. Timers of workflows would follow an injected clock; they must follow the database's. */
function letClockJump({ aheadMs, jumps }: ClockPlan): void {
  let offsetMs = aheadMs;
  for (const { afterMs, byMs } of jumps) setTimeout(() => (offsetMs += byMs), afterMs).unref();
  systemClock.now = () => Date.now() + offsetMs;
}

/** SQLite never sets the limit below the current size: the next page that it needs does not fit. */
async function fillConnection(runtime: Runtime, { afterMs, forMs }: { afterMs: number; forMs: number }) {
  const limit = async (pages: number): Promise<void> => {
    const { store } = await hostOf(runtime);
    await store.read(() => all(`PRAGMA max_page_count = ${pages}`));
  };
  try {
    await sleep(afterMs, undefined, { ref: false });
    await limit(1);
    await sleep(forMs, undefined, { ref: false });
    await limit(1_000_000_000);
  } catch {
    // The runtime was closed meanwhile.
  }
}

export function createTools(shopUrl: string): OrderTools {
  const policies = {
    needsApproval: ({ sku }: { sku: string }) => /\.(ask|deny)$/.test(sku),
    settleMs: SETTLE_MS,
  };
  return Object.fromEntries(
    TOOL_KINDS.map((kind) => [kind, createOrderTool(kind, shopUrl, policies)]),
  ) as unknown as OrderTools;
}

/** The number of the order, or `null` if the approver has denied it. */
export async function place(tools: OrderTools, { kind, sku }: Step): Promise<number | null> {
  try {
    return (await tools[kind].execute({ sku })).id;
  } catch (error) {
    if (ToolwrightError.is(error) && error.code === "TOOL_APPROVAL_DENIED") return null;
    throw error;
  }
}

/** Ends the process for reasons that a supervisor waits out, and lets every other error end it loudly. */
export function endFor(error: unknown): never {
  const code = ToolwrightError.is(error) ? error.code : "";
  if (code === "TOOL_APPROVAL_PENDING") process.exit(EXIT_WAITING);
  if (code === "TOOL_STORE_FAILED" || code === "TOOL_RUN_FENCED") process.exit(EXIT_STORE_FAILED);
  throw error;
}

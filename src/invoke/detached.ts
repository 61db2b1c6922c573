/** The scope and host of calls outside any run: the settings of the surrounding context, and no store. */
import { randomUUID } from "node:crypto";
import { getToolIdempotencyKey, type PartialToolContext } from "../definition/context.ts";
import { DEFAULT_SETTINGS } from "../definition/tool-settings.ts";
import { isUnrepeatable } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { systemClock } from "../util/clock.ts";
import { digest } from "../util/hash.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";
import type { Call } from "./call.ts";
import { WaitGraph } from "./wait-graph.ts";
import type { Host } from "./host.ts";
import type { Policy } from "./policy.ts";
import { PlaceQueues } from "./place-queues.ts";
import { RunBudgets } from "./run-budgets.ts";
import { Scope } from "./scope.ts";
import { FailedWrites } from "./failed-writes.ts";

export function createDetachedScope(context: PartialToolContext | undefined): Scope {
  const iteration = context?.iteration ?? 0;
  return new Scope(detachedHost, {
    identity: {
      runId: context?.runId ?? "",
      nodeId: context?.nodeId ?? "main",
      iteration,
      path: String(iteration),
      parentKey: "",
    },
    attempt: context?.attempt ?? 1,
    detached: true,
  });
}

/**
 * The idempotency key of a call outside any run: the one from its options, else one that is derived from the surrounding
 * context, else a new one. Two calls never share a derived key, and every try of a call has the same key.
 */
export function keyOutsideRuns(call: Call, context: PartialToolContext | undefined): string {
  const given: unknown = call.capabilities?.["idempotencyKey"];
  if (typeof given === "string") return given;
  const { caller, argsText, seq } = call;
  const around = context?.idempotencyKey ?? "";
  // The key of the enclosing tool identifies the effect of that tool, so this call needs another one.
  if (around !== "" && around === caller?.idempotencyKey) return digest(["inside", around, seq, argsText]);
  if (around !== "") return around;
  const task = getToolIdempotencyKey(context);
  return task === null ? randomUUID() : digest(["call", task, seq, argsText]);
}

// Once per name and process: a program may call a tool a million times.
const warned = new Set<string>();

/** Warns about a likely mistake: the effect is not logged, and a crash or a retry repeats it. */
export const warnOutsideRuns: Policy = (call, next) => {
  const { spec } = call;
  if (isUnrepeatable(spec) && !warned.has(spec.name)) {
    warned.add(spec.name);
    console.warn(
      `toolwright: tool "${toTerminalLine(spec.name)}" is a non-idempotent side effect and was called outside any run: ` +
        "the call is not logged, and a crash or a retry repeats it. Use runtime.call(tool, args), or call it inside runtime.run({ runId }, work).",
    );
  }
  return next(call);
};

const noStore: Store = {
  dialect: "sqlite",
  secret: "",
  transaction: () => Promise.reject(noRun()),
  read: () => Promise.reject(noRun()),
  close: () => Promise.resolve(),
};

function noRun(): ToolwrightError {
  return new ToolwrightError("TOOL_STORE_FAILED", "There is no store outside a run.");
}

const detachedHost: Host = {
  store: noStore,
  get streams(): never {
    throw noRun();
  },
  ownerId: "",
  clock: systemClock,
  settings: {
    ...DEFAULT_SETTINGS,
    get rootDir() {
      return process.cwd();
    },
  },
  limits: {},
  durability: "default",
  recording: "off",
  trustMessageApprovals: false,
  approvalTtlMs: undefined,
  models: { language: undefined, embedding: undefined },
  tools: [],
  calledTools: new Map(),
  telemetry: undefined,
  waitGraph: new WaitGraph(),
  leaders: new Map(),
  budgets: new RunBudgets(() => performance.now()),
  places: new PlaceQueues(),
  cutOff: new Set(),
  failedWrites: new FailedWrites(noStore),
  keyReaders: new Set(),
  activeRuns: new Set(),
  claimed: new Map(),
  boundHere: new Set(),
  recordedTools: new Map(),
  replay: undefined,
  machine: "",
  isRootShared: true,
  hasWorker: false,
  becomeWorker: () => Promise.resolve(),
  fencedSignal: () => new AbortController().signal,
  isWatched: () => false,
  emit: () => undefined,
  warnOnce: () => undefined,
  snapshotFor: undefined,
  capabilitiesFor: undefined,
  renewLease: () => undefined,
  leaseGeneration: () => 0,
  isOwnerAlive: () => Promise.resolve(false),
  isOwnerHere: () => false,
  isOpenHere: () => false,
};

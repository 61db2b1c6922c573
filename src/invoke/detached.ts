/** A place for calls outside any run: the settings of the surrounding context, no store, no memory. */
import { DEFAULT_SETTINGS, type PartialToolContext } from "../definition/context.ts";
import { ToolwrightError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { systemClock } from "../util/clock.ts";
import { CallsAtWork } from "./calls-at-work.ts";
import type { Host } from "./host.ts";
import { RunBudgets } from "./run-budgets.ts";
import { Scope } from "./scope.ts";
import { Unsettled } from "./unsettled.ts";

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
  trustMessageApprovals: false,
  approvalTtlMs: undefined,
  models: { language: undefined, embedding: undefined },
  tools: [],
  inFlight: new Map(),
  atWork: new CallsAtWork(),
  leads: new Map(),
  budgets: new RunBudgets(() => performance.now()),
  cutOff: new Set(),
  unsettled: new Unsettled(noStore),
  keyReaders: new Set(),
  runsAtWork: new Set(),
  fencedSignal: () => new AbortController().signal,
  isWatched: () => false,
  emit: () => undefined,
  warnOnce: () => undefined,
  snapshotFor: undefined,
  capabilitiesFor: undefined,
  renewLease: () => undefined,
  leaseGeneration: () => 0,
  isOwnerAlive: () => Promise.resolve(false),
};

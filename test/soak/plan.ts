/**
 * The plan of a soak, derived from its seed alone: the jobs, the fate of every process, and the faults of each database. The
 * moments are counted in events where possible, such as "at its third order", so that a seed meets the same window again.
 */
import { CRASH_POINTS, type CrashPoint } from "../../src/testing/crash/crash-point.ts";
import type { ToolKind } from "../crash/programs/shop-tools.ts";
import type { Random } from "../random.ts";

export type StoreName = "sqlite" | "postgres";

/** `worker`: stopped longer than its lease, too. `steady-worker`: only killed, so its tools need no key. */
export const ROLES = ["worker", "steady-worker", "script", "chat", "server"] as const;
export type Role = (typeof ROLES)[number];

/** How long tools wait before they ask whether an order of a dead process was placed. The machine is busy. */
export const SETTLE_MS = 3_000;
/** How long an order of a killed process may be on its way: well within that. */
export const LATE_MS = 2_000;

/** `late`: the order arrives after the process has died, and is placed then. */
export const MOMENTS = ["lost", "late", "placed", "answered"] as const;
export type Moment = (typeof MOMENTS)[number];

/** The end of one process. Times count from the moment when it is ready. */
export type Fate =
  | { readonly kind: "none" }
  | { readonly kind: "kill"; readonly afterMs: number }
  /** While it starts: it may not be ready yet. Counts from its start. */
  | { readonly kind: "kill-early"; readonly afterMs: number }
  /** After `afterMs` at the latest: there may be no such order. */
  | {
      readonly kind: "kill-at-order";
      readonly nth: number;
      readonly moment: Moment;
      readonly afterMs: number;
    }
  | {
      readonly kind: "kill-at-point";
      readonly point: CrashPoint;
      readonly occurrence: number;
      readonly afterMs: number;
    }
  | { readonly kind: "stop"; readonly afterMs: number; readonly forMs: number }
  | { readonly kind: "terminate"; readonly afterMs: number };

/** How the injected clock of a process differs from the real one. */
export interface ClockPlan {
  readonly aheadMs: number;
  readonly jumps: readonly { readonly afterMs: number; readonly byMs: number }[];
}

export interface ProcessPlan {
  readonly fate: Fate;
  readonly clock: ClockPlan;
  /** SQLite only, where no small disk can be mounted: its connection may add no page for a while. */
  readonly fullDisk: { readonly afterMs: number; readonly forMs: number } | null;
}

export const LEASE_MS = 2_000;
/** Every second process of a worker lives long enough to make progress: five takeovers in a row without any fail a run. */
const GENTLE_EVERY = 2;

export function planProcess(random: Random, role: Role, incarnation: number): ProcessPlan {
  const isGentle = role.endsWith("worker") && incarnation % GENTLE_EVERY === GENTLE_EVERY - 1;
  return {
    fate: isGentle ? { kind: "kill", afterMs: 6_000 + random.below(6_000) } : fateOf(random, role),
    clock: clockOf(random),
    fullDisk: random.chance(0.1) ? { afterMs: random.below(1_000), forMs: 100 + random.below(600) } : null,
  };
}

/** A process without faults, for the end of a soak. */
export const QUIET_PLAN: ProcessPlan = {
  fate: { kind: "none" },
  clock: { aheadMs: 0, jumps: [] },
  fullDisk: null,
};

function fateOf(random: Random, role: Role): Fate {
  const isScript = role === "script";
  const mostOrders = isScript ? 3 : 6;
  const longestMs = isScript ? 150 : 1_500;
  const afterMs = 4_000;
  const draw = random.next();
  if (draw < 0.25) return { kind: "kill", afterMs: random.below(longestMs) };
  if (draw < 0.3) return { kind: "kill-early", afterMs: random.below(600) };
  if (draw < 0.6)
    return {
      kind: "kill-at-order",
      nth: 1 + random.below(mostOrders),
      moment: random.pick(MOMENTS),
      afterMs,
    };
  if (draw < 0.85)
    return {
      kind: "kill-at-point",
      point: random.pick(CRASH_POINTS),
      occurrence: 1 + random.below(mostOrders),
      afterMs,
    };
  if (draw < 0.9) return { kind: "terminate", afterMs: random.below(longestMs) };
  if (draw < 0.96 && role !== "steady-worker")
    return {
      kind: "stop",
      afterMs: random.below(longestMs),
      forMs: isScript ? 200 + random.below(800) : LEASE_MS + 200 + random.below(1_500),
    };
  return isScript ? { kind: "none" } : { kind: "kill", afterMs: longestMs + random.below(2_000) };
}

const HOUR_MS = 3_600_000;

function clockOf(random: Random): ClockPlan {
  const aheadMs = random.chance(0.2) ? Math.round((random.next() - 0.5) * 48 * HOUR_MS) : 0;
  if (!random.chance(0.3)) return { aheadMs, jumps: [] };
  const jumps = Array.from({ length: 1 + random.below(3) }, () => ({
    afterMs: random.below(2_000),
    byMs: Math.round((random.next() - 0.5) * 4 * HOUR_MS),
  }));
  return { aheadMs, jumps };
}

export const DATABASE_FAULTS = {
  /** `full-disk`: no page can be added. `locked`: another program holds the write lock. */
  sqlite: ["full-disk", "full-disk", "locked"],
  /** `restart`: immediate, without a shutdown. `cut-*`: at one COMMIT, before the server gets it, or before the answer. */
  postgres: ["restart", "terminate", "cut-all", "cut-before-commit", "cut-after-commit", "cut-after-commit"],
} as const;
export type DatabaseFault = (typeof DATABASE_FAULTS)[StoreName][number];

export interface PlannedFault {
  readonly afterMs: number;
  readonly fault: DatabaseFault;
  readonly forMs: number;
}

/** The n-th fault of a database. Counts from the end of the previous one. */
export function planFault(random: Random, store: StoreName): PlannedFault {
  return {
    afterMs: 500 + random.below(4_000),
    fault: random.pick<DatabaseFault>(DATABASE_FAULTS[store]),
    forMs: 100 + random.below(700),
  };
}

export const JOB_KINDS = [
  "workflow",
  "waiting-workflow",
  "program",
  "smart-agent",
  "agent-loop",
  "script",
  "chat",
  "served-workflow",
] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export interface Step {
  readonly kind: ToolKind;
  /** Unique in the whole soak. Its end says what the approver does: `.ask` approves, `.deny` denies. */
  readonly sku: string;
}

export interface Job {
  readonly runId: string;
  readonly kind: JobKind;
  /** Runs on steady workers. */
  readonly isSteady: boolean;
  readonly steps: readonly Step[];
}

const KEYED: readonly ToolKind[] = ["keyed", "business"];
const ANY: readonly ToolKind[] = ["keyed", "business", "reconciled", "blind"];
const BY_WORKERS: ReadonlySet<JobKind> = new Set([
  "workflow",
  "waiting-workflow",
  "program",
  "smart-agent",
  "agent-loop",
]);

/** A waiting workflow gets its first orders by signals. */
export const BY_SIGNAL = 2;

/** @param name unique among the jobs of this kind */
export function planJob(random: Random, kind: JobKind, name: string): Job {
  const isByWorker = BY_WORKERS.has(kind);
  const isSteady = isByWorker && random.chance(0.4);
  const kinds = isByWorker && !isSteady ? KEYED : ANY;
  const runId = `${kind}-${name}`;
  // A script lives for one job, so its job is longer.
  const length = kind === "script" ? 4 + random.below(6) : 2 + random.below(4);
  const steps = Array.from({ length }, (_, n): Step => {
    const end = random.chance(0.15) ? (random.chance(0.3) ? ".deny" : ".ask") : "";
    return { kind: random.pick(kinds), sku: `${runId}.${n}${end}` };
  });
  return { runId, kind, isSteady, steps };
}

export function isDenied({ sku }: Step): boolean {
  return sku.endsWith(".deny");
}

/** The Zod schemas of queries, bodies and responses. Responses may hold more fields than their schemas name. */
import { z } from "zod";
import { APPROVAL_STATUSES, MOST_RUNS, RUN_KINDS, RUN_STATES } from "../operate/run-status.ts";
import { isStorableText } from "../util/storable-text.ts";

/** PostgreSQL refuses some texts, and the two stores must answer alike. */
function text(longest: number) {
  const isStorable = (given: string): boolean => isStorableText(given);
  return z.string().max(longest).refine(isStorable, "must not contain U+0000 or a lone surrogate");
}

/** Ids are texts of users: anything but an empty text. The store decides whether there is such a run. */
const id = text(1_000).min(1);
function limitUpTo(most: number) {
  const aLimit = `must be a whole number from 1 to ${most}`;
  return z
    .string()
    .regex(/^[1-9]\d{0,3}$/, aLimit)
    .refine((given) => Number(given) <= most, aLimit)
    .transform(Number)
    .optional();
}
const limit = limitUpTo(MOST_RUNS);
const cursor = text(2_000).min(1).optional();
const ms = z.number();

export const RUN_PARAMS = z.strictObject({ id });

/** A filter of runs: the same for the list and for its event stream. */
const RUN_FILTER = {
  status: z.enum([...RUN_STATES, "interrupted"]).optional(),
  kind: z.enum(RUN_KINDS).optional(),
  workflow: text(1_000).min(1).optional(),
  label: text(1_000)
    .regex(/^[^=]+=/, "must be key=value")
    .optional(),
  q: text(1_000).optional(),
};

export const RUNS_QUERY = z.strictObject({ ...RUN_FILTER, before: cursor, limit });

export const EVENTS_QUERY = z
  .strictObject({ run: id.optional(), ...RUN_FILTER, limit })
  .refine(({ run, ...rest }) => run === undefined || Object.values(rest).every((one) => one === undefined), {
    message: "run cannot be combined with filters of the list",
    path: ["run"],
  });

export const RUN_SUMMARY = z.looseObject({
  runId: z.string(),
  kind: z.enum(RUN_KINDS),
  name: z.string(),
  status: z.enum(RUN_STATES),
  interrupted: z.boolean(),
  createdAtMs: ms,
  updatedAtMs: ms,
  finishedAtMs: ms.nullable(),
  tasks: z.number(),
  calls: z.number(),
  pendingApprovals: z.number(),
  labels: z.record(z.string(), z.string()),
  why: z.string(),
});

export const RUNS = z.looseObject({ runs: z.array(RUN_SUMMARY), next: z.string().nullable() });

const NODE = z.looseObject({
  nodeId: z.string(),
  kind: z.string(),
  status: z.string(),
  /** `null` for a group, and for a task that has not started. */
  attempt: z.number().nullable(),
  iteration: z.number(),
  path: z.string(),
  startedAtMs: ms.nullable(),
  finishedAtMs: ms.nullable(),
  error: z.unknown(),
  get children() {
    return z.array(NODE);
  },
});

export const DESCRIBED_RUN = z.looseObject({
  ...RUN_SUMMARY.shape,
  tree: z.array(NODE),
  counts: z.looseObject({}),
  lineage: z.looseObject({}),
});

export const EXPLANATION = z.looseObject({
  runId: z.string(),
  status: z.enum(RUN_STATES),
  because: z.array(z.string()),
  next: z.array(z.looseObject({ action: z.string(), label: z.string(), command: z.string() })),
  /** This server serves the run's workflow. */
  resumesHere: z.boolean(),
});

export const WORKERS = z.looseObject({
  workers: z.array(
    z.looseObject({
      workerId: z.string(),
      name: z.string(),
      status: z.enum(["active", "draining", "dead"]),
      build: z.string().nullable(),
      labels: z.record(z.string(), z.string()),
      serves: z.array(z.looseObject({ kind: z.string(), name: z.string() })),
      concurrency: z.number(),
      runs: z.number(),
      startedAtMs: ms,
      seenAtMs: ms,
    }),
  ),
});

/** Rows of calls are small, and a run may have thousands. */
export const CALLS_QUERY = z.strictObject({ before: cursor, limit: limitUpTo(1_000) });

const CALL_ROW = z.looseObject({
  key: z.string(),
  attempt: z.number(),
  seq: z.number(),
  toolName: z.string(),
  status: z.string(),
  startedAtMs: ms,
  durationMs: ms.nullable(),
  tries: z.number(),
  replayed: z.boolean(),
  fromCache: z.boolean(),
  isolation: z.string().nullable(),
  approvalId: z.string().nullable(),
  inputPreview: z.string().nullable(),
  outputPreview: z.string().nullable(),
});

export const CALLS = z.looseObject({ calls: z.array(CALL_ROW), next: z.string().nullable() });

const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number);

export const CALL_PARAMS = z.strictObject({ key: id, attempt: wholeNumber });

export const PART_QUERY = z.strictObject({
  part: z.enum(["input", "output", "error"]).default("output"),
  /** The run of the call, which makes it quick to find. */
  run: id.optional(),
  offset: wholeNumber.default(0),
});

/** Without `task`: of the run itself. `path` is the path of the task in the tree. */
export const VALUE_QUERY = z
  .strictObject({
    part: z.enum(["input", "output"]).default("output"),
    task: text(1_000).min(1).optional(),
    path: text(1_000).optional(),
    offset: wholeNumber.default(0),
  })
  .refine(({ part, task }) => part === "output" || task === undefined, {
    message: "only a run has an input; leave task out",
    path: ["task"],
  })
  .refine(({ task, path }) => task !== undefined || path === undefined, {
    message: "needs task",
    path: ["path"],
  });

export const PART = z.looseObject({
  text: z.string(),
  offset: z.number(),
  nextOffset: z.number().nullable(),
  totalChars: z.number(),
});

export const APPROVALS_QUERY = z.strictObject({
  status: z.enum(APPROVAL_STATUSES).optional(),
  run: id.optional(),
  limit,
});

export const APPROVAL = z.looseObject({
  id: z.string(),
  kind: z.string(),
  status: z.enum(APPROVAL_STATUSES),
  runId: z.string(),
  nodeId: z.string(),
  toolName: z.string(),
  args: z.unknown(),
  argsHash: z.string(),
  prompt: z.string(),
  schema: z.looseObject({}).nullable(),
  requestedAtMs: ms,
  expiresAtMs: ms.nullable(),
  decidedAtMs: ms.nullable(),
  decidedBy: z.string().nullable(),
  comment: z.string().nullable(),
});

export const APPROVALS = z.looseObject({ approvals: z.array(APPROVAL), total: z.number() });

/** The token names the approver, so the body cannot. */
export const DECISION = z
  .strictObject({
    /** The `argsHash` that the request showed. Empty for a task, which has no arguments. */
    argsHash: text(1_000),
    approved: z.boolean().optional(),
    resolution: z.enum(["happened", "run-again", "give-up"]).optional(),
    approvedArgs: z.unknown().optional(),
    output: z.unknown().optional(),
    comment: text(10_000).optional(),
  })
  .refine(({ approved, resolution }) => (approved === undefined) !== (resolution === undefined), {
    message: "needs either approved or resolution",
  });

export const START = z.strictObject({
  workflow: text(1_000).min(1),
  input: z.unknown().optional(),
  runId: text(1_048_576).min(1).optional(),
});

export const STARTED = z.looseObject({ runId: z.string() });

/** Bodies of commands without arguments. */
export const EMPTY_BODY = z.strictObject({}).optional();

export const CANCELLED = z.looseObject({
  runId: z.string(),
  status: z.string(),
  message: z.string(),
});

export const RESUMED = z.looseObject({
  runId: z.string(),
  /** Whether a process resumes the run now. */
  resumed: z.boolean(),
  by: z.enum(["owner", "worker", "server"]).nullable(),
  message: z.string(),
  /** The command that resumes it, if no process does. */
  command: z.string().nullable(),
});

export const SIGNAL = z.strictObject({
  name: text(1_000).min(1),
  payload: z.unknown().optional(),
  /** A second signal with the same name and key is not stored. */
  key: text(1_000).min(1).optional(),
});

export const SIGNALLED = z.looseObject({
  runId: z.string(),
  name: z.string(),
  duplicate: z.boolean(),
  /** Whether a task waits for it now. */
  awaited: z.boolean(),
  message: z.string(),
  /** The command that continues the run, if no worker does. */
  command: z.string().nullable(),
});

export const FORK = z
  .strictObject({
    at: text(1_000).min(1).optional(),
    input: z.unknown().optional(),
    outputs: z.record(z.string(), z.unknown()).optional(),
    effects: z.enum(["ask", "reuse", "run"]).optional(),
    dryRun: z.boolean().optional(),
  })
  .optional();

export const FORKED = z.looseObject({
  /** The run id of the fork. */
  runId: z.string(),
  parentId: z.string(),
  copied: z.looseObject({ tasks: z.number(), calls: z.number() }),
  rerun: z.array(z.string()),
  reverted: z.array(z.string()),
  dryRun: z.boolean(),
  message: z.string(),
  /** The command that runs the fork, if no worker does. */
  command: z.string().nullable(),
});

export const REVERT = z
  .strictObject({ from: text(1_000).min(1).optional(), dryRun: z.boolean().optional() })
  .optional();

const REVERT_ENTRIES = z.array(
  z.looseObject({
    tool: z.string(),
    key: z.string(),
    nodeId: z.string(),
    effectStatus: z.enum(["succeeded", "unknown"]),
    reason: z.string().nullable(),
    approvalId: z.string().nullable(),
  }),
);

export const REVERTED = z.looseObject({
  runId: z.string(),
  dryRun: z.boolean(),
  reverted: REVERT_ENTRIES,
  left: REVERT_ENTRIES,
  failed: REVERT_ENTRIES,
  pending: REVERT_ENTRIES,
});

export const SCHEDULES = z.looseObject({
  schedules: z.array(
    z.looseObject({
      name: z.string(),
      workflow: z.string(),
      cron: z.string().nullable(),
      everyMs: ms.nullable(),
      tz: z.string(),
      input: z.unknown(),
      overlap: z.enum(["skip", "queue"]),
      catchUp: z.enum(["none", "last"]),
      paused: z.boolean(),
      nextAtMs: ms.nullable(),
      lastAtMs: ms.nullable(),
      lastRunId: z.string().nullable(),
      queued: z.number(),
      skipped: z.number(),
    }),
  ),
});

export const SESSION = z.looseObject({
  name: z.string(),
  /** What the caller may do here. */
  scopes: z.array(z.enum(["read", "decide", "operate"])),
  readOnly: z.boolean(),
  /** The names that `POST /runs` takes. */
  workflows: z.array(z.string()),
  version: z.string(),
});

export const SIGN_IN_LINK = z.looseObject({ signInUrl: z.string() });

export const OPENAPI = z.looseObject({ openapi: z.literal("3.1.0"), paths: z.looseObject({}) });

export const HEALTH = z.looseObject({ status: z.literal("ok"), store: z.enum(["ok", "unavailable"]) });

export const ERROR = z.looseObject({
  error: z.looseObject({ code: z.string(), message: z.string(), hint: z.string() }),
});

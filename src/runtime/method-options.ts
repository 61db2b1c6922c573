/** The option tables of a runtime's methods. Loaded on the first use of a runtime. */
import { SETTING_CHECKS } from "../definition/tool-settings.ts";
import {
  aBoolean,
  aFullText,
  anId,
  aRunId,
  anInteger,
  aSignal,
  aStorableText,
  aStorableValue,
  aText,
  type Check,
  fields,
  listOf,
  must,
  oneOf,
  someLabels,
} from "../definition/option-checks.ts";
import { optionTable, type OptionTable } from "../definition/option-table.ts";
import { type ApprovalDecision, DECISION_CHECKS } from "../invoke/approvals/decision.ts";
import { APPROVAL_STATUSES } from "../store/run-words.ts";
import type { ApprovalFilter } from "../store/tables/approvals.ts";
import type { CallFilter } from "../store/tables/call-log.ts";
import { CALL_STATUSES } from "../store/tables/calls.ts";
import type { GcOptions } from "./collect-garbage.ts";
import { LIMITS } from "./options.ts";
import type { SignalOptions } from "./signals.ts";
import type { RuntimeCallOptions, RunScopeOptions, StreamOptions, TaskIdentity } from "./runtime.ts";

const SETTINGS: Check = fields(SETTING_CHECKS);

const IDENTITY = {
  runId: aRunId,
  nodeId: anId,
  iteration: anInteger(0),
  loopPath: listOf(anInteger(0)),
  attempt: anInteger(1),
} satisfies Record<keyof TaskIdentity, Check>;

const TASK = { required: ["runId"], example: '{ runId: "order-17" }' } as const;

export const CALL_OPTIONS: OptionTable = optionTable<RuntimeCallOptions>(
  "runtime.call",
  {
    ...IDENTITY,
    callKey: aFullText,
    toolCallId: aText,
    labels: someLabels,
    signal: aSignal,
  },
  { example: TASK.example },
);

export const RUN_OPTIONS: OptionTable = optionTable<RunScopeOptions>(
  "runtime.run",
  {
    ...IDENTITY,
    turn: anInteger(1),
    limits: LIMITS,
    name: aFullText,
    input: aStorableValue,
    labels: someLabels,
    signal: aSignal,
    settings: SETTINGS,
  },
  TASK,
);

export const RETRY_WARNING_OPTIONS: OptionTable = optionTable<TaskIdentity>(
  "runtime.retryWarning",
  IDENTITY,
  TASK,
);

export const SIGNAL_OPTIONS: OptionTable = optionTable<SignalOptions>(
  "runtime.signal",
  { key: anId },
  { example: '{ key: "payment-17" }' },
);

const milliseconds: Check = must(
  (value) => typeof value === "number" && value >= 0,
  "a number of milliseconds from 0",
);

export const GC_OPTIONS: OptionTable = optionTable<GcOptions>("runtime.gc", {
  olderThanMs: milliseconds,
  replayOlderThanMs: milliseconds,
  dryRun: aBoolean,
});

export const CALLS_FILTER: OptionTable = optionTable<CallFilter>("runtime.calls", {
  runId: aStorableText,
  nodeId: aStorableText,
  toolName: aStorableText,
  status: oneOf(...CALL_STATUSES),
  limit: anInteger(0),
});

export const STREAM_OPTIONS: OptionTable = optionTable<StreamOptions>("runtime.stream", {
  from: anInteger(0),
  signal: aSignal,
});

export const APPROVALS_FILTER: OptionTable = optionTable<ApprovalFilter>("runtime.approvals", {
  runId: aStorableText,
  status: oneOf(...APPROVAL_STATUSES),
  limit: anInteger(0),
});

export const DECISION: OptionTable = optionTable<ApprovalDecision>("resolveToolApproval", DECISION_CHECKS, {
  example: "{ approved: true }",
});

/** Sends a signal to a workflow run. It is stored before its sender gets the answer, and used once. */
import { anId, aRunId } from "../definition/option-checks.ts";
import { asOptionError, checkOptions } from "../definition/option-table.ts";
import type { JsonSchema } from "../definition/json-schema.ts";
import { ToolwrightError } from "../errors.ts";
import { problemsWith } from "../invoke/approvals/contract.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Store, Transaction } from "../store/store.ts";
import { markReady } from "../store/tables/queue.ts";
import { readRunRow } from "../store/tables/runs.ts";
import { insertSignal } from "../store/tables/signals.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { type OpenWait, readWaits } from "../store/tables/waits.ts";
import { lockRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { encode } from "../util/encode.ts";
import { SIGNAL_OPTIONS } from "./method-options.ts";

export interface SignalOptions {
  /** A second signal with the same name and key is not stored: for senders that repeat. */
  readonly key?: string | undefined;
}

export interface SentSignal {
  readonly runId: string;
  readonly name: string;
  /** A signal with this key was sent before, and this one was not stored. */
  readonly duplicate: boolean;
  /** A task waits for it now. Otherwise it is kept until one does. */
  readonly awaited: boolean;
}

/**
 * @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, WORKFLOW_RUN_OVER, WORKFLOW_SIGNAL_INVALID, TOOL_OPTION_INVALID
 */
export async function sendSignal(
  store: Store,
  runId: string,
  name: string,
  payload: unknown,
  options: SignalOptions = {},
): Promise<SentSignal> {
  asOptionError(SURFACE, () => {
    aRunId(runId, "runId");
    anId(name, "name");
  });
  checkOptions(SIGNAL_OPTIONS, options);
  const payloadJson = encodePayload(payload);
  return store.transaction(function* (): Transaction<SentSignal> {
    const { status } = yield* lockOpenRun(runId);
    const waits = (yield* readWaits(runId)).filter(({ signal }) => signal === name);
    const problem = problemForAll(waits, payload);
    if (problem !== undefined) throw invalidPayload(runId, name, problem);
    const inserted = yield* insertSignal({ runId, name, key: options.key ?? null, payloadJson });
    const awaited = waits.length > 0;
    // The process that runs it looks for signals before it lets the run wait.
    if (inserted > 0 && awaited && status !== "running") yield* markReady(runId);
    return { runId, name, duplicate: inserted === 0, awaited };
  }, "full");
}

const SURFACE = "runtime.signal";

function encodePayload(payload: unknown): string {
  try {
    return encode(payload);
  } catch (error) {
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      `${SURFACE}: the payload cannot be stored: ${messageOf(error)}`,
      {
        details: { option: "payload" },
        hint: "Send plain data: strings, numbers, arrays and objects.",
        effect: "none",
      },
    );
  }
}

/** Locks the run: it cannot end, or begin to wait, between this check and the commit. */
function* lockOpenRun(runId: string): Transaction<WorkflowRunRow> {
  const run = yield* lockRun(runId);
  if (run === undefined) {
    yield* assertNotDeleted(runId);
    const other = yield* readRunRow(runId);
    const message =
      other === undefined
        ? `There is no run "${runId}" in this store.`
        : `Run "${runId}" is not a workflow, so it takes no signals.`;
    throw new ToolwrightError("TOOL_RUN_NOT_FOUND", message, { details: { runId }, effect: "none" });
  }
  const { status } = run;
  if (status !== "finished" && status !== "failed" && status !== "cancelled") return run;
  throw new ToolwrightError(
    "WORKFLOW_RUN_OVER",
    `Run "${runId}" ${HOW_ENDED[status]}, so it takes no more signals.`,
    {
      details: { runId, status },
      effect: "none",
    },
  );
}

const HOW_ENDED = { finished: "has finished", failed: "has failed", cancelled: "was cancelled" } as const;

/** Several tasks may wait for the name, and one that takes the payload is enough. The task itself checks again. */
function problemForAll(waits: readonly OpenWait[], payload: unknown): string | undefined {
  const problems = waits.map(({ schemaJson }) =>
    schemaJson === null ? undefined : problemsWith(JSON.parse(schemaJson) as JsonSchema, payload, "payload"),
  );
  return problems.includes(undefined) ? undefined : problems[0];
}

function invalidPayload(runId: string, name: string, problem: string): ToolwrightError {
  return new ToolwrightError(
    "WORKFLOW_SIGNAL_INVALID",
    `The payload of the signal "${name}" does not match what run "${runId}" waits for: ${problem}`,
    { details: { runId, signal: name }, effect: "none" },
  );
}

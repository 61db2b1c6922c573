/** The calls of a run, newest first, page by page, without long values. */
import { ToolwrightError } from "../errors.ts";
import { decodeError } from "../invoke/error-record.ts";
import type { Store } from "../store/store.ts";
import { type CallCursor, type CallHead, listCallHeads } from "../store/tables/call-pages.ts";
import type { CallStatus } from "../store/tables/calls.ts";
import { reportInterrupted } from "../store/tables/report-interrupted.ts";
import { toShortText } from "../terminal/readable.ts";
import { toShownStored } from "../util/truncate.ts";
import { livenessIn } from "./run-owner.ts";

export interface CallSummary {
  readonly key: string;
  readonly attempt: number;
  readonly seq: number;
  readonly nodeId: string;
  readonly iteration: number;
  readonly path: string;
  /** The call that it was made in. `null` at the top. */
  readonly parentKey: string | null;
  readonly toolName: string;
  /** `unknown`, too, if its owner is dead. */
  readonly status: CallStatus;
  readonly startedAtMs: number;
  /** `null` until it has ended. */
  readonly durationMs: number | null;
  readonly tries: number;
  readonly replayed: boolean;
  readonly fromCache: boolean;
  readonly isolation: string | null;
  readonly approvalId: string | null;
  /** The JSON of the value as it is shown, or the first characters of the stored JSON if it is long. */
  readonly inputPreview: string | null;
  readonly outputPreview: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface CallPage {
  /** Newest first. */
  readonly calls: readonly CallSummary[];
  /** Passed as `before`, it continues the list. `null` at the end. */
  readonly next: string | null;
}

export interface CallPageOptions {
  readonly before?: string | undefined;
  /** From 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
}

export const MOST_CALLS = 1_000;
const DEFAULT_CALLS = 100;

/** An unknown run has no calls. @throws TOOL_OPTION_INVALID */
export async function listCallPage(
  store: Store,
  runId: string,
  { before, limit = DEFAULT_CALLS }: CallPageOptions = {},
): Promise<CallPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_CALLS)
    throw invalid("limit", `must be a whole number from 1 to ${MOST_CALLS}, not ${String(limit)}`);
  const cursor = before === undefined ? undefined : cursorOf(before);
  const read = () =>
    store.read(() => listCallHeads(runId, { before: cursor, limit: limit + 1 }, store.dialect));
  const { found, reported } = await reportInterrupted(read, (calls) => calls, livenessIn(store));
  const shown = found.slice(0, limit).map((call) => toSummary(reported(call)));
  const last = found[limit - 1];
  return { calls: shown, next: found.length > limit && last !== undefined ? toCursor(last) : null };
}

function toSummary({ finishedAtMs, replayedFrom, errorJson, parentKey, ...call }: CallHead): CallSummary {
  const { ownerId: _ownerId, inputPreview, outputPreview, ...shown } = call;
  const error = errorJson === null ? null : decodeError(errorJson);
  return {
    ...shown,
    parentKey: parentKey === "" ? null : parentKey,
    durationMs: finishedAtMs === null ? null : Math.max(0, finishedAtMs - call.startedAtMs),
    replayed: replayedFrom !== null,
    inputPreview: toShownPreview(inputPreview),
    outputPreview: toShownPreview(outputPreview),
    error: error && { code: error.code, message: toShortText(error.message, 300) },
  };
}

/** Without the tags of the stored form, unless it is only the beginning of a long value. */
function toShownPreview(json: string | null): string | null {
  try {
    return json === null ? null : toShownStored(json);
  } catch {
    return json;
  }
}

function toCursor({ startedAtMs, seq, attempt, key }: CallCursor): string {
  return `${startedAtMs}~${seq}~${attempt}~${key}`;
}

function cursorOf(text: string): CallCursor {
  const [, startedAtMs, seq, attempt, key = ""] = /^(\d{1,15})~(\d{1,15})~(\d{1,15})~(.+)$/s.exec(text) ?? [];
  if (key === "") throw invalid("before", 'must be the "next" of a page of calls');
  return { startedAtMs: Number(startedAtMs), seq: Number(seq), attempt: Number(attempt), key };
}

function invalid(option: string, problem: string): ToolwrightError {
  return new ToolwrightError("TOOL_OPTION_INVALID", `Option ${option} ${problem}.`, { details: { option } });
}

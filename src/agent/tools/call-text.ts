/** The input or output of a logged call, as text for the model. */
import { ToolwrightError } from "../../errors.ts";
import { decodeError } from "../../invoke/error-record.ts";
import { findCallOfRun, type FoundCall, topCallsOfRun } from "../../store/tables/run-calls.ts";
import { type IsOwnerAlive, reportInterrupted } from "../../store/tables/report-interrupted.ts";
import type { ScopeKey } from "../../store/tables/scopes.ts";
import type { Store } from "../../store/store.ts";
import { outputText } from "../../tool/model-answer.ts";
import { decode } from "../../util/encode.ts";
import { isPreview, toShownStored } from "../../util/truncate.ts";

/** The runs and the scope to search for calls. */
export interface CallSource {
  readonly store: Store;
  readonly isOwnerAlive: IsOwnerAlive;
  /** The run of the agent, and the runs that it branched off from. */
  readonly runIds: readonly string[];
  /** The scope of the agent. */
  readonly here: Pick<ScopeKey, "nodeId" | "parentKey">;
}

export interface CallText {
  readonly executionId: string;
  readonly toolName: string;
  readonly status: string;
  readonly text: string;
}

export async function findCallText(
  { store, isOwnerAlive, runIds, here }: CallSource,
  handle: { readonly executionId?: string | undefined; readonly tool_call_id?: string | undefined },
  part: "input" | "output",
): Promise<CallText | undefined> {
  const find = () =>
    store.read(function* () {
      for (const runId of runIds.toReversed()) {
        const call = yield* findCallOfRun(runId, handle, here);
        if (call !== undefined) return call;
      }
      return undefined;
    });
  const { found, reported } = await reportInterrupted(
    find,
    (call) => (call === undefined ? [] : [call]),
    isOwnerAlive,
  );
  if (found === undefined) return undefined;
  const { key, toolName, status } = reported(found);
  return { executionId: key, toolName, status, text: textOf(found, part) };
}

/** One line for each top-level call of the runs, oldest first. */
export async function listCallTexts({ store, isOwnerAlive, runIds }: CallSource): Promise<CallText> {
  const list = () =>
    store.read(function* () {
      const calls: FoundCall[] = [];
      for (const runId of runIds) for (const call of yield* topCallsOfRun(runId)) calls.push(call);
      return calls;
    });
  const { found, reported } = await reportInterrupted(list, (calls) => calls, isOwnerAlive);
  const lines = found.map(reported).map(({ key, toolName, status, inputJson }) => {
    const input = inputJson === null ? undefined : toShownStored(inputJson).slice(0, SHOWN_INPUT);
    return JSON.stringify({ executionId: key, toolName, status, input: input?.toWellFormed() });
  });
  return { executionId: "all", toolName: "", status: "success", text: lines.join("\n") };
}

const SHOWN_INPUT = 120;

function textOf(call: FoundCall, part: "input" | "output"): string {
  if (part === "output" && call.errorJson !== null && call.outputJson === null)
    return JSON.stringify(decodeError(call.errorJson).toModel());
  const whole = wholeText(call, part);
  const logged = part === "input" ? call.inputJson : call.outputJson;
  if (whole !== null || logged === null) return outputText(decoded(whole), undefined);
  throw new ToolwrightError(
    "TOOL_RESULT_DELETED",
    `The ${part} of this call of "${call.toolName}" is no longer in the store; the log has a preview of it.`,
    { details: { tool: call.toolName, key: call.key }, effect: "none" },
  );
}

/** `null` if nothing is logged, or only a preview is left. */
export function wholeText(call: FoundCall, part: "input" | "output"): string | null {
  const [payload, logged] =
    part === "input" ? [call.inputPayload, call.inputJson] : [call.outputPayload, call.outputJson];
  return payload ?? (logged !== null && isPreview(logged) ? null : logged);
}

export function decoded(json: string | null): unknown {
  return json === null ? undefined : decode(json);
}

/** The input or the output of a call on record, as a model reads it. */
import { decodeError } from "../../invoke/error-record.ts";
import { findCallOfRun, type FoundCall, topCallsOfRun } from "../../store/run-calls.ts";
import { readPayload } from "../../store/payloads.ts";
import type { ScopeKey } from "../../store/scopes.ts";
import type { Store } from "../../store/store.ts";
import { outputText } from "../../tool/model-answer.ts";
import { decode } from "../../util/encode.ts";

/** Where calls are looked for. */
export interface CallSource {
  readonly store: Store;
  /** The agent's run, and those that it branched off from. */
  readonly runIds: readonly string[];
  /** What in it the agent is. */
  readonly here: Pick<ScopeKey, "nodeId" | "parentKey">;
}

export interface CallText {
  readonly executionId: string;
  readonly toolName: string;
  readonly status: string;
  readonly text: string;
}

export async function findCallText(
  { store, runIds, here }: CallSource,
  handle: { readonly executionId?: string | undefined; readonly tool_call_id?: string | undefined },
  part: "input" | "output",
): Promise<CallText | undefined> {
  return store.read(function* () {
    for (const runId of runIds.toReversed()) {
      const call = yield* findCallOfRun(runId, handle, here);
      if (call === undefined) continue;
      const whole = yield* readPayload(call.key, call.attempt, part);
      return {
        executionId: call.key,
        toolName: call.toolName,
        status: call.status,
        text: textOf(call, part, whole),
      };
    }
    return undefined;
  });
}

/** One line for each call of the runs themselves, the oldest first. */
export async function listCallTexts({ store, runIds }: CallSource): Promise<CallText> {
  const calls = await store.read(function* () {
    const found: FoundCall[] = [];
    for (const runId of runIds) for (const call of yield* topCallsOfRun(runId)) found.push(call);
    return found;
  });
  const lines = calls.map(({ key, toolName, status, inputJson }) =>
    JSON.stringify({ executionId: key, toolName, status, input: inputJson?.slice(0, SHOWN_INPUT) }),
  );
  return { executionId: "all", toolName: "", status: "success", text: lines.join("\n") };
}

const SHOWN_INPUT = 120;

/** @param whole the value that the log shows truncated */
function textOf(call: FoundCall, part: "input" | "output", whole: string | undefined): string {
  if (part === "input") return outputText(decoded(whole ?? call.inputJson), undefined);
  if (call.errorJson !== null && call.outputJson === null)
    return JSON.stringify(decodeError(call.errorJson).toModel());
  return outputText(decoded(whole ?? call.outputJson), undefined);
}

export function decoded(json: string | null): unknown {
  return json === null ? undefined : decode(json);
}

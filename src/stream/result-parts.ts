/** The result of a call, or the request that it waits for, as a part; and which results of a run have one already. */
import type { EndedModelCall } from "../store/tables/ended-model-calls.ts";
import { decode } from "../util/encode.ts";
import { toShownValue } from "../util/shown-value.ts";
import type { NumberedPart, StreamPartDetails } from "./stream-part.ts";

type CallLocation = Pick<NumberedPart, "attempt" | "nodeId" | "iteration" | "parentKey">;

const RESULTS: ReadonlySet<string> = new Set([
  "tool-result",
  "tool-error",
  "tool-denied",
  "tool-approval-request",
]);

/** The known calls of a run. */
export class KnownResults {
  /** Calls whose result was published. */
  readonly #results: Set<string>;
  /** The response that made each call. */
  readonly #callers: Map<string, string>;

  constructor(parts: readonly NumberedPart[]) {
    this.#results = new Set(parts.filter(({ type }) => RESULTS.has(type)).map(resultKey));
    this.#callers = new Map();
    for (const part of parts) this.noteCall(part);
  }

  noteCall(part: NumberedPart): void {
    if (part.type === "tool-call") this.#callers.set(callKey(part, part.toolCallId), part.response);
  }

  /** `undefined` for a call that no stored response made. */
  callerOf(location: CallLocation, toolCallId: string): string | undefined {
    return this.#callers.get(callKey(location, toolCallId));
  }

  /** Whether this result is new. It counts as published from now on. */
  take(part: NumberedPart): boolean {
    const key = resultKey(part);
    if (this.#results.has(key)) return false;
    this.#results.add(key);
    return true;
  }
}

/** Models use the same ids in every attempt. */
function callKey({ attempt, nodeId, iteration, parentKey = "" }: CallLocation, toolCallId: string): string {
  return JSON.stringify([attempt, nodeId, iteration, parentKey, toolCallId]);
}

/** A request for approval, and what follows it, are two parts of one call. */
function resultKey(part: NumberedPart): string {
  const id = "toolCallId" in part ? part.toolCallId : "";
  const kind = part.type === "tool-approval-request" ? part.approvalId : "result";
  return `${kind} ${part.response} ${callKey(part, id)}`;
}

/** `undefined` for a call that waits for something else than a decision. */
export function detailsOfEnded(call: EndedModelCall): StreamPartDetails | undefined {
  const { toolCallId, toolName, status, request } = call;
  const named = { toolCallId, toolName };
  switch (status) {
    case "success":
      return { type: "tool-result", ...named, output: outputOf(call.outputJson) };
    case "error":
      return { type: "tool-error", ...named, error: errorOf(call.errorJson) };
    case "denied": {
      const message = `The call of "${toolName}" with these arguments was denied.`;
      return { type: "tool-denied", ...named, error: { code: "TOOL_APPROVAL_DENIED", message } };
    }
    case "pending":
      return request === undefined
        ? undefined
        : { type: "tool-approval-request", ...named, approvalId: request.id, argsHash: request.argsHash };
  }
}

function outputOf(json: string | null): unknown {
  return json === null ? null : toPlainJson(decode(json));
}

function errorOf(json: string | null): { code: string; message: string } {
  const { code, message } = (json === null ? {} : JSON.parse(json)) as { code?: unknown; message?: unknown };
  return {
    code: typeof code === "string" ? code : "TOOL_EXECUTION_FAILED",
    message: typeof message === "string" ? message : "The call failed.",
  };
}

/** Readers receive JSON, whichever process they are in: the form in which the value is shown everywhere. */
export function toPlainJson(value: unknown): unknown {
  try {
    return toShownValue(value) ?? null;
  } catch {
    // A value of another library may throw when it is read.
    return null;
  }
}

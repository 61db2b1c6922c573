/** The warning before a retried prompt: which calls were made before, and what a repeated call returns. */
import type { ScopeIdentity } from "../../definition/call-key.ts";
import { type EarlierCall, listEarlierCalls, listUnclaimedCalls } from "../../store/tables/earlier-calls.ts";
import { toShownStored } from "../../util/truncate.ts";
import { decodeError } from "../error-record.ts";
import type { Host } from "../host.ts";
import type { Scope } from "../scope.ts";

const MAX_CHARACTERS = 4_000;
const MAX_PART = 200;

/** `""` if there is nothing to warn about. Newest last; calls that do not fit are counted. */
export async function warnAboutEarlierCalls(
  host: Host,
  scope: ScopeIdentity,
  attempt: number,
): Promise<string> {
  const calls = await host.store.read(() => listEarlierCalls(scope, attempt));
  return compose("Earlier attempts of this task made these calls", calls, "later");
}

/**
 * The same for a loop whose replay diverged: it does not know what it did before.
 * @param claimed keys of calls that the loop has made again
 */
export async function warnAboutUnclaimedCalls(scope: Scope, claimed: ReadonlySet<string>): Promise<string> {
  const calls = await scope.host.store.read(() => listUnclaimedCalls(scope, claimed));
  return compose("Before it was interrupted, this task made these calls", calls, "this");
}

/** In the attempt that made a call, its outcome is final. A later attempt runs some calls again. */
type Attempt = "this" | "later";

function compose(what: string, calls: readonly EarlierCall[], attempt: Attempt): string {
  if (calls.length === 0) return "";
  const head =
    `${what}. They were made then, not now, and must not be repeated by mistake. Each line says what the same call with ` +
    "the same arguments gets now. Where the outcome is unknown, verify the external state before you repeat the call. " +
    "To do something once more on purpose, call it once more after you got its recorded result.";
  const lines: string[] = [];
  let left = MAX_CHARACTERS - head.length - 80;
  // From the newest back, so that the oldest calls are left out.
  for (const call of calls.toReversed()) {
    const line = describe(call, attempt);
    if (line.length + 1 > left) break;
    left -= line.length + 1;
    lines.unshift(line);
  }
  const omitted = calls.length - lines.length;
  const note = `(${omitted} earlier calls are left out here. Verify the external state before you repeat any of them.)`;
  return [head, ...(omitted === 0 ? [] : [note]), ...lines].join("\n");
}

function describe(call: EarlierCall, attempt: Attempt): string {
  const { toolName, status, inputJson, outputJson, errorJson } = call;
  const result = resultOf(outputJson, errorJson);
  const shown = result === "" ? "" : ` -> ${shorten(result)}`;
  const ended = status === "started" ? "unknown" : status;
  const input = inputJson === null ? "" : shorten(toShownStored(inputJson));
  return `- attempt ${call.attempt}: ${toolName}(${input}) ${ended}${shown} [${repeat(call, attempt)}]`;
}

function resultOf(outputJson: string | null, errorJson: string | null): string {
  if (outputJson !== null) return toShownStored(outputJson);
  return errorJson === null ? "" : decodeError(errorJson).message;
}

/** What an equal call returns. States only what is true for every tool that the row may belong to. */
function repeat({ status, reruns, isInner, effect }: EarlierCall, attempt: Attempt): string {
  if (isInner) return "made inside another call; verify the external state before you make it yourself";
  const hasHappened = status === "success" || effect === "happened";
  if (attempt === "this") {
    if (status === "success") return "a repeat returns this recorded result";
    if (status === "error") return "a repeat returns this recorded error and runs nothing";
    return UNKNOWN;
  }
  if (status !== "unknown" && status !== "started") {
    if (reruns === true) return "a repeat runs again";
    if (reruns === null) return hasHappened ? "verify the external state: a repeat may run again" : UNKNOWN;
  }
  if (status === "success") return "a repeat returns this recorded result";
  return hasHappened ? "it happened; a repeat does not run it again" : UNKNOWN;
}

const UNKNOWN = "outcome unknown: verify the external state first";

function shorten(value: string): string {
  return value.length <= MAX_PART ? value : `${value.slice(0, MAX_PART).toWellFormed()}…`;
}

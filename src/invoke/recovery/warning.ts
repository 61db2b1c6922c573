/** What an agent is told that begins anew: which calls were made before that must not be made twice. */
import type { ScopeIdentity } from "../../definition/call-key.ts";
import { type EarlierCall, listEarlierCalls, listUnclaimedCalls } from "../../store/earlier-calls.ts";
import type { Host } from "../host.ts";
import type { Scope } from "../scope.ts";

const MAX_CHARACTERS = 4_000;
const MAX_PART = 200;

/** `""` when there is nothing to warn about. Newest last; what does not fit is counted. */
export async function warnAboutEarlierCalls(
  host: Host,
  scope: ScopeIdentity,
  attempt: number,
): Promise<string> {
  const calls = await host.store.read(() => listEarlierCalls(scope, attempt));
  return compose("Earlier attempts of this task made these calls", calls);
}

/**
 * The same for a loop that goes another way than on record: it does not know what it did before.
 * @param claimed keys of calls that it has made again
 */
export async function warnAboutUnclaimedCalls(scope: Scope, claimed: ReadonlySet<string>): Promise<string> {
  const calls = await scope.host.store.read(() => listUnclaimedCalls(scope, claimed));
  return compose("Before it was interrupted, this task made these calls", calls);
}

function compose(what: string, calls: readonly EarlierCall[]): string {
  if (calls.length === 0) return "";
  const head =
    `${what}, which must not be repeated by mistake. They are done; they are not done now. ` +
    "Calling one again with the same arguments returns its recorded result. To do it once more, call it once more.";
  const lines: string[] = [];
  let left = MAX_CHARACTERS - head.length - 80;
  // From the newest back, so that what is left out is the oldest.
  for (const call of calls.toReversed()) {
    const line = describe(call);
    if (line.length + 1 > left) break;
    left -= line.length + 1;
    lines.unshift(line);
  }
  const omitted = calls.length - lines.length;
  return [head, ...(omitted === 0 ? [] : [`(${omitted} earlier calls are left out here.)`]), ...lines].join(
    "\n",
  );
}

function describe({ attempt, toolName, status, inputJson, outputJson, errorJson }: EarlierCall): string {
  const result = outputJson ?? errorJson ?? "";
  const shown = result === "" ? "" : ` -> ${shorten(result)}`;
  return `- attempt ${attempt}: ${toolName}(${shorten(inputJson ?? "")}) ${status === "started" ? "unknown" : status}${shown}`;
}

function shorten(value: string): string {
  return value.length <= MAX_PART ? value : `${value.slice(0, MAX_PART).toWellFormed()}…`;
}

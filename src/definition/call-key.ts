/**
 * The identity of a call: the same in every retry, resume and process, different for every two different calls.
 * Made from the arguments as they were sent, before defaults and transforms, which may be random.
 */
import { canonicalText } from "../util/canonical.ts";
import { digest, sha256 } from "../util/hash.ts";

/** Where a call counts. Attempts are not part of it: a retry finds what the first attempt did. */
export interface ScopeIdentity {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  /** The full path of loop indices and the turn, as text; two different ones never look alike. */
  readonly path: string;
  /** `""` at the top, else the key of the call that this one is made inside of. */
  readonly parentKey: string;
}

/** The scope's part of every key in it. JSON, so that no two different lists of ids look alike. */
export function scopeText(scope: ScopeIdentity): string {
  return JSON.stringify([scope.runId, scope.nodeId, scope.path, scope.parentKey]);
}

/** Equal for equal calls: the tool and its arguments. */
export function callText(toolName: string, args: unknown): string {
  return `${JSON.stringify(toolName)} ${canonicalText(args)}`;
}

/** @param place how many equal calls came before this one in its scope, or the caller's own `callKey` */
export function callKey(scope: string, place: number | string, call: string): string {
  return sha256(`${scope} ${JSON.stringify(place)} ${call}`);
}

export function businessKey(toolName: string, key: string): string {
  return digest(["business", toolName, key]);
}

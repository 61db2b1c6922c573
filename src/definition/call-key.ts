/**
 * The identity of a call: the same in every retry, resume and process, different for every two different calls.
 * Made from the arguments as they were sent, before defaults and transforms, which may be random.
 */
import { canonicalText } from "../util/canonical.ts";
import { digest } from "../util/hash.ts";

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

export function argumentsHash(toolName: string, args: unknown): string {
  return digest([toolName, canonicalText(args)]);
}

/** @param index how many equal calls came before this one in its scope, or the caller's own `callKey` */
export function callKey(scope: ScopeIdentity, argsHash: string, index: number | string): string {
  return digest([scope.runId, scope.nodeId, scope.path, scope.parentKey, argsHash, typeof index, index]);
}

export function businessKey(toolName: string, key: string): string {
  return digest(["business", toolName, key]);
}

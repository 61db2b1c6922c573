/**
 * The identity of a call: the same in every retry, resume and process, different for every two different calls.
 * Made from the arguments as they were sent, before defaults and transforms, which may be random.
 */
import { CANONICAL_VERSION, canonicalText, type CanonicalVersion } from "../util/canonical.ts";
import { digest, sha256 } from "../util/hash.ts";

/**
 * How keys are derived. Each scope keeps the version that it was made with, so that its recorded calls are found for as
 * long as it exists. 1 was released with 0.1. See docs/formats.md.
 */
export type KeyVersion = CanonicalVersion;
export const KEY_VERSION: KeyVersion = CANONICAL_VERSION;

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
export function callText(toolName: string, args: unknown, version: KeyVersion = KEY_VERSION): string {
  return textOfTool(toolName, canonicalText(args, version));
}

/** @param args their canonical text */
export function textOfTool(toolName: string, args: string): string {
  return `${JSON.stringify(toolName)} ${args}`;
}

/** @param place how many equal calls came before this one in its scope, or the caller's own `callKey` */
export function callKey(scope: string, place: number | string, call: string): string {
  return sha256(`${scope} ${JSON.stringify(place)} ${call}`);
}

export function businessKey(toolName: string, key: string): string {
  return digest(["business", toolName, key]);
}

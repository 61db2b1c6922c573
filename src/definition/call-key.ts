/**
 * The key of a call: the same in every retry, resume and process, and different for any two different calls. It is
 * derived from the arguments as sent, before defaults and transforms, which may be random.
 */
import { CANONICAL_VERSION, canonicalText, type CanonicalVersion } from "../util/canonical.ts";
import { digest, sha256 } from "../util/hash.ts";

/**
 * The version of the key derivation. Each scope keeps the version that it was created with, so that its logged calls are
 * always found. Version 1 was released with 0.1. See docs/internals/formats.md.
 */
export type KeyVersion = CanonicalVersion;
export const KEY_VERSION: KeyVersion = CANONICAL_VERSION;

/** Where equal calls are counted. It excludes the attempt, so that a retry finds the calls of the first attempt. */
export interface ScopeIdentity {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  /** The loop indices and the turn as text, unique within the task. */
  readonly path: string;
  /** `""` at the top, else the key of the enclosing call. */
  readonly parentKey: string;
}

/** The scope's part of every key in it. JSON, so that different lists of ids never have the same text. */
export function scopeText(scope: ScopeIdentity): string {
  return JSON.stringify([scope.runId, scope.nodeId, scope.path, scope.parentKey]);
}

/** The tool and its arguments as text: the same for equal calls. */
export function callText(toolName: string, args: unknown, version: KeyVersion = KEY_VERSION): string {
  return textOfTool(toolName, canonicalText(args, version));
}

/** @param args their canonical text */
export function textOfTool(toolName: string, args: string): string {
  return `${JSON.stringify(toolName)} ${args}`;
}

/** @param index the number of earlier equal calls in the scope, or the caller's own `callKey` */
export function callKey(scope: string, index: number | string, call: string): string {
  return sha256(`${scope} ${typeof index === "number" ? index : JSON.stringify(index)} ${call}`);
}

/** The key of a call in a fork. @param originKey of the equal call in the first run of the line */
export function forkedKey(runId: string, originKey: string): string {
  return digest(["fork", runId, originKey]);
}

export function businessKey(toolName: string, key: string): string {
  return digest(["business", toolName, key]);
}

/** Derives the identity of a call: its key, its index among equal calls, and the hashes of its arguments. */
import type { KeyVersion } from "../definition/call-key.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import type { CopiedCallKey } from "../store/tables/calls.ts";
import { decode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import type { Call } from "./call.ts";
import { type LegacyIdentity, textOfArguments } from "./call-text.ts";
import { maskForKey, unmask } from "./redact.ts";
import type { Scope } from "./scope.ts";
import { isRedactedInput } from "./storable.ts";

/** Derives the key, once the store is open. */
export function identify(call: Call): void {
  const { spec, scope } = call;
  const text = settleVersion(call);
  call.text = spec.redactInput.length === 0 ? text : textOf(call, call.args, scope.keyVersion);
  if (call.toolCallId !== undefined && typeof call.callIndex === "number") {
    const index = scope.indexOfPending(call.toolCallId, call.text, call.callIndex);
    if (index !== call.callIndex) scope.indexes.move(call.argsText, call.callIndex, index);
    call.callIndex = index;
  }
  const { key, originKey } = copiedKeyOf(call) ?? scope.keyOf(call.callIndex, call.text);
  call.key = key;
  call.originKey = originKey;
  if (call.toolCallId !== undefined) scope.noteFound(call.toolCallId, key);
  call.idempotencyKey = call.key;
  if (scope.parent !== undefined || scope.isOwned) scope.assigned.add(call.key);
  if (scope.parent !== undefined) (scope.parent.innerKeys ??= new Set()).add(call.key);
}

/** In a fork: the key of a call before the cut, if its arguments are known only as they were redacted. */
function copiedKeyOf({ scope, spec, args, toolCallId }: Call): CopiedCallKey | undefined {
  if (scope.originId === undefined || toolCallId === undefined || !isRedactedInput(spec, args))
    return undefined;
  return scope.takeCopied(toolCallId, spec.name);
}

/** Picks the identity by the scope's key version, and frees the index of the other one. */
function settleVersion(call: Call): string {
  const { scope, legacy, argsText, callIndex } = call;
  call.legacy = undefined;
  if (legacy === undefined) return argsText;
  const isLegacy = scope.keyVersion === 1;
  releaseIndex(scope, isLegacy ? { argsText, callIndex } : legacy, "ended");
  if (!isLegacy) return argsText;
  call.argsText = legacy.argsText;
  call.callIndex = legacy.callIndex;
  return legacy.text;
}

/**
 * @param how `open`: the next equal call is this one; `interrupted`: so is one that the messages show after this one
 */
export function releaseIndexes(call: Call, how: "ended" | "open" | "interrupted"): void {
  releaseIndex(call.scope, call, how);
  if (call.legacy !== undefined) releaseIndex(call.scope, call.legacy, how);
}

function releaseIndex(
  scope: Scope,
  { argsText, callIndex }: Omit<LegacyIdentity, "text">,
  how: "ended" | "open" | "interrupted",
): void {
  if (typeof callIndex !== "number") return;
  if (how === "ended") scope.indexes.end(argsText, callIndex);
  else scope.indexes.release(argsText, callIndex, how === "interrupted");
}

/** The redacted text of the tool and its arguments, which the key of a call is derived from. */
export function textOfCall(spec: ToolSpec, args: unknown, secret: string, version?: KeyVersion): string {
  return textOfArguments(spec.name, () => maskForKey(spec, args, secret, version), version);
}

function textOf(call: Call, args: unknown, version: KeyVersion | undefined): string {
  return textOfCall(call.spec, args, call.host.store.secret, version);
}

/** The hash of the arguments that run: as edited by an approver, or as sent. */
export function executedHash(call: Call, version: KeyVersion): string {
  const { editedArgsJson, scope } = call;
  if (editedArgsJson === null && version === scope.keyVersion) return argumentsHash(call);
  const args = editedArgsJson === null ? call.args : unmask(decode(editedArgsJson), call.args);
  return sha256(textOf(call, args, version));
}

/** The hash that an approval is bound to. */
export function argumentsHash(call: Call): string {
  return sha256(call.text);
}

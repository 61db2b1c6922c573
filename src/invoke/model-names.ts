/**
 * The names by which models know tools. A loop may offer `pay.charge` as `charge`; what a model reads about its calls later
 * has to use the same name.
 */
import { toStorableText } from "../util/storable-text.ts";
import type { Call } from "./call.ts";
import type { Scope } from "./scope.ts";

export interface NamedCall {
  readonly toolCallId: string;
  readonly toolName: string;
}

// By scope: the AI SDK does not tell a tool under which name it was called, but the response that called it does.
const names = new WeakMap<Scope, Map<string, string>>();

export function noteModelNames(scope: Scope, calls: Iterable<NamedCall>): void {
  const known = names.get(scope) ?? new Map<string, string>();
  for (const { toolCallId, toolName } of calls) known.set(toStorableText(toolCallId), toolName);
  names.set(scope, known);
}

/** `null` where it is the tool's own name, or not known. */
export function modelNameOf(call: Call): string | null {
  const { toolCallId, scope, spec } = call;
  const name =
    call.modelName ?? (toolCallId === undefined ? undefined : names.get(scope)?.get(toolCallId)) ?? null;
  return name === null || name === spec.name ? null : toStorableText(name);
}

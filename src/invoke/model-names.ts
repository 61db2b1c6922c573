/**
 * The names under which tools were offered to the model. A loop may offer `pay.charge` as `charge`; later texts for the model
 * must use the same name.
 */
import { sharedByCopies } from "../definition/package-copy.ts";
import { toStorableText } from "../util/storable-text.ts";
import type { Call } from "./call.ts";
import type { Scope } from "./scope.ts";

export interface NamedCall {
  readonly toolCallId: string;
  readonly toolName: string;
}

// By scope: the AI SDK does not pass the called name to the tool, but the model's response contains it.
const names = sharedByCopies("model names.1", () => new WeakMap<Scope, Map<string, string>>());

export function noteModelNames(scope: Scope, calls: Iterable<NamedCall>): void {
  const ofScope = names.get(scope) ?? new Map<string, string>();
  for (const { toolCallId, toolName } of calls) ofScope.set(toStorableText(toolCallId), toolName);
  names.set(scope, ofScope);
}

/** `null` if it is unknown or the tool's own name. */
export function modelNameOf(call: Call): string | null {
  const { toolCallId, scope, spec } = call;
  const name =
    call.modelName ?? (toolCallId === undefined ? undefined : names.get(scope)?.get(toolCallId)) ?? null;
  return name === null || name === spec.name ? null : toStorableText(name);
}

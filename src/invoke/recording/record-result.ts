/** Stores what the function of a recorded program returned, and its input: a replay needs them. */
import type { Transaction } from "../../store/store.ts";
import { keepProgramInput, saveRecordedResult } from "../../store/tables/recordings.ts";
import { encode } from "../../util/encode.ts";
import type { Scope } from "../scope.ts";

/**
 * A result may repeat hidden values at any location. So it is stored only if no tool hides anything.
 * @param hasInput whether the run stores an input
 */
export async function recordResult(scope: Scope, result: unknown, hasInput: boolean): Promise<void> {
  const { host, identity } = scope;
  if (host.recording !== "keep") return;
  const body = scope.holdsSecrets || scope.waiting.size > 0 ? undefined : encoded(result);
  if (body === undefined && !hasInput) return;
  const write = function* (): Transaction<void> {
    if (body !== undefined) yield* saveRecordedResult(identity, body);
    if (hasInput) yield* keepProgramInput(identity.runId);
  };
  await host.store.transaction(write, "normal").catch(() => undefined);
}

/** A result with a function in it, or a stream, cannot be compared. */
function encoded(result: unknown): string | undefined {
  try {
    return encode(result);
  } catch {
    return undefined;
  }
}

/** Stores what the function of a recorded program returned: a replay reports another result. */
import { saveRecordedResult } from "../../store/tables/recordings.ts";
import { encode } from "../../util/encode.ts";
import type { Scope } from "../scope.ts";

/** A result may repeat hidden values at any location. So it is stored only if no tool hides anything. */
export async function recordResult(scope: Scope, result: unknown): Promise<void> {
  const { host, identity } = scope;
  if (host.recording !== "keep" || scope.holdsSecrets || scope.waiting.size > 0) return;
  const body = encoded(result);
  if (body === undefined) return;
  await host.store.transaction(() => saveRecordedResult(identity, body), "normal").catch(() => undefined);
}

/** A result with a function in it, or a stream, cannot be compared. */
function encoded(result: unknown): string | undefined {
  try {
    return encode(result);
  } catch {
    return undefined;
  }
}

/**
 * Stores that a running call has read its idempotency key: if the process dies, the next one knows that the service can
 * deduplicate a repeated call. This costs a write, so it is skipped if the log already proves it.
 */
import { noteKeyRead } from "../../store/tables/write-calls.ts";
import type { Call } from "../call.ts";
import { commitAtOnce } from "../host.ts";

export function recordKeyRead(call: Call): void {
  const { host, spec, scope } = call;
  const isProven = spec.takesKey || host.keyReaders.has(spec.name);
  if (isProven || spec.options.acceptsIdempotencyKey === false) return;
  if (!call.executed || !call.begun || call.isDeferred || scope.isDetached) return;
  const at = { scopeId: scope.id, key: call.key, attempt: scope.attempt, ownerId: host.ownerId };
  commitAtOnce(host, () => noteKeyRead(at)).then(
    () => host.keyReaders.add(spec.name),
    // The outcome stores it too, and the call itself reports a failing store.
    () => undefined,
  );
}

/**
 * Records that a call has read its idempotency key while it still runs: if its process dies, the next one knows that the
 * service can recognise a repetition. Costs a write, so it is left out where something else proves the same.
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
    // The outcome says it too. A store that failed is reported by the call itself.
    () => undefined,
  );
}

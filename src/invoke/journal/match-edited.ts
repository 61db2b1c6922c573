/**
 * A call's identity comes from the arguments that were asked for; what ran may be what a person put in their place. A
 * later attempt that asks for the latter, because it was told of them, means the same call.
 */
import { callsWithEditedArguments } from "../../store/tables/approvals.ts";
import { callsByKey } from "../../store/tables/calls.ts";
import { argumentsHash, type Call } from "../call.ts";

export async function matchEditedArguments(call: Call): Promise<void> {
  const { host, scope, spec } = call;
  if (scope.attempt === 1 || spec.needsApproval === undefined || scope.mayBeRecorded(call.key)) return;
  const key = await host.store.read(function* () {
    for (const candidate of yield* callsWithEditedArguments(scope.id, spec.name, argumentsHash(call))) {
      const [latest] = yield* callsByKey(scope.id, candidate);
      if (latest !== undefined && latest.attempt < scope.attempt) return candidate;
    }
    return undefined;
  });
  if (key === undefined) return;
  call.key = key;
  call.idempotencyKey = key;
}

/**
 * Checks ownership right before `execute`, if the lease of this process has lapsed or the call is retried: another process may
 * have taken over the call or its task. The store decides, not the time: a lapse without a takeover changes nothing.
 */
import type { ToolwrightError } from "../../errors.ts";
import { callsByKey } from "../../store/tables/calls.ts";
import { readScope } from "../../store/tables/scopes.ts";
import type { Transaction } from "../../store/store.ts";
import type { Call } from "../call.ts";
import { fenced } from "./rows.ts";

/** Ends the pipeline without an outcome: the row is no longer ours to write. */
export class LostOwnership extends Error {
  readonly #error: ToolwrightError;

  constructor(error: ToolwrightError) {
    super(error.message);
    this.#error = error;
  }

  /** The error, if `thrown` is a LostOwnership. `instanceof` would throw on a revoked proxy. */
  static errorOf(thrown: unknown): ToolwrightError | undefined {
    return typeof thrown === "object" && thrown !== null && #error in thrown ? thrown.#error : undefined;
  }
}

/** `undefined` if no check is needed. @throws LostOwnership */
export function assertStillOwned(call: Call): Promise<void> | undefined {
  if (call.scope.isDetached) return undefined;
  // The first try follows its intent immediately. A later try may come long after it, so the read is worth its cost.
  if (call.tries === 0 && call.host.leaseGeneration() === call.leaseGeneration) return undefined;
  return checkOwnership(call);
}

async function checkOwnership(call: Call): Promise<void> {
  const { host } = call;
  await host.renewLease();
  const generation = host.leaseGeneration();
  if (!(await host.store.read(() => isOwned(call)))) throw new LostOwnership(fenced(call));
  call.leaseGeneration = generation;
}

function* isOwned(call: Call): Transaction<boolean> {
  const { rootScopeId, epoch, attempt } = call.scope.writer;
  const scope = yield* readScope(rootScopeId);
  if (scope === undefined || scope.attempt !== attempt) return false;
  if (epoch !== null && scope.epoch !== epoch) return false;
  if (call.isDeferred) return true;
  const row = (yield* callsByKey(call.scope.id, call.key)).find((other) => other.attempt === attempt);
  return row?.status === "started" && row.ownerId === call.host.ownerId;
}

/** Business keys: which call holds a key in the whole store. */
import { integer, integerOrNull, text } from "./columns.ts";
import { change, first } from "./statement.ts";
import type { Transaction } from "./store.ts";

export interface Claim {
  readonly idempotencyKey: string;
  readonly toolName: string;
  readonly argsHash: string;
  readonly scopeId: number;
  readonly callKey: string;
  readonly attempt: number;
}

export interface HeldClaim extends Claim {
  /** Set when retention has deleted the call that holds it. */
  readonly deleted: { readonly atMs: number; readonly happened: boolean } | undefined;
}

export function* readClaim(idempotencyKey: string): Transaction<HeldClaim | undefined> {
  const row = yield* first("SELECT * FROM toolwright_claims WHERE idempotency_key = ?1", idempotencyKey);
  if (row === undefined) return undefined;
  const deletedAtMs = integerOrNull(row, "deleted_at_ms");
  return {
    idempotencyKey: text(row, "idempotency_key"),
    toolName: text(row, "tool_name"),
    argsHash: text(row, "args_hash"),
    scopeId: integer(row, "scope_id"),
    callKey: text(row, "call_key"),
    attempt: integer(row, "attempt"),
    deleted:
      deletedAtMs === null ? undefined : { atMs: deletedAtMs, happened: integer(row, "happened") === 1 },
  };
}

/**
 * Takes the key, or takes it over from the call that the caller has judged. 0 when another call holds it by now.
 */
export function takeClaim(claim: Claim, from: Claim | undefined): Transaction<number> {
  return change(
    `INSERT INTO toolwright_claims (idempotency_key, tool_name, args_hash, call_key, attempt, scope_id)
     VALUES (?1, ?2, ?3, ?4, ?5, ?8)
     ON CONFLICT (idempotency_key) DO UPDATE SET call_key = excluded.call_key, attempt = excluded.attempt,
       args_hash = excluded.args_hash, scope_id = excluded.scope_id
     WHERE toolwright_claims.call_key = ?6 AND toolwright_claims.attempt = CAST(?7 AS BIGINT)`,
    claim.idempotencyKey,
    claim.toolName,
    claim.argsHash,
    claim.callKey,
    claim.attempt,
    from?.callKey ?? null,
    from?.attempt ?? null,
    claim.scopeId,
  );
}

/** Nothing happened: the key is free again. */
export function releaseClaim(idempotencyKey: string, callKey: string): Transaction<number> {
  return change(
    "DELETE FROM toolwright_claims WHERE idempotency_key = ?1 AND call_key = ?2",
    idempotencyKey,
    callKey,
  );
}

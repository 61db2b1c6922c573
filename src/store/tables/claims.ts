/** Business keys: which call holds a key in the whole store. */
import { integer, integerOrNull, text } from "./columns.ts";
import { change, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

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

/** @param row with the columns of the claim under names of their own, since it is read together with its call */
export function toHeldClaim(row: Row): HeldClaim {
  const deletedAtMs = integerOrNull(row, "claim_deleted");
  return {
    idempotencyKey: text(row, "claim_key"),
    toolName: text(row, "claim_tool"),
    argsHash: text(row, "claim_hash"),
    scopeId: integer(row, "claim_scope"),
    callKey: text(row, "claim_call"),
    attempt: integer(row, "claim_attempt"),
    deleted:
      deletedAtMs === null
        ? undefined
        : { atMs: deletedAtMs, happened: integer(row, "claim_happened") === 1 },
  };
}

/**
 * Takes the key, or takes it over from the call that the caller has judged. 0 when another call holds it by now, or
 * retention has deleted the call that held it: such a key is never free again.
 */
export function takeClaim(claim: Claim, from: Claim | undefined): Transaction<number> {
  return change(
    `INSERT INTO toolwright_claims (idempotency_key, tool_name, args_hash, call_key, attempt, scope_id)
     VALUES (?1, ?2, ?3, ?4, ?5, ?8)
     ON CONFLICT (idempotency_key) DO UPDATE SET call_key = excluded.call_key, attempt = excluded.attempt,
       args_hash = excluded.args_hash, scope_id = excluded.scope_id
     WHERE toolwright_claims.call_key = ?6 AND toolwright_claims.attempt = CAST(?7 AS BIGINT)
       AND toolwright_claims.deleted_at_ms IS NULL`,
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

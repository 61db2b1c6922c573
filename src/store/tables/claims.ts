/** Claims: the call that holds a business key. A key is unique in the whole store. */
import { change, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, flagOrNull, integer, integerOrNull, type RowOf, text } from "./table.ts";

const NEW_CLAIM = columns({
  idempotencyKey: text("idempotency_key"),
  toolName: text("tool_name"),
  argsHash: text("args_hash"),
  scopeId: integer("scope_id"),
  callKey: text("call_key"),
  attempt: integer("attempt"),
});

const CLAIMS = columns({
  ...NEW_CLAIM.map,
  deletedAtMs: integerOrNull("deleted_at_ms"),
  happened: flagOrNull("happened"),
});

export type Claim = RowOf<(typeof NEW_CLAIM)["map"]>;

export interface HeldClaim extends Claim {
  /** Set when retention has deleted the call that holds it. */
  readonly deleted: { readonly atMs: number; readonly happened: boolean } | undefined;
}

/** A claim is read together with its call, which has columns of the same names. */
export const CLAIM_LIST = CLAIMS.list("k", "claim_");
const parseClaim = CLAIMS.parser("claim_");

/** @param row of a query for `CLAIM_LIST` */
export function toHeldClaim(row: Row): HeldClaim {
  const { deletedAtMs, happened, ...claim } = parseClaim(row);
  return {
    ...claim,
    deleted: deletedAtMs === null ? undefined : { atMs: deletedAtMs, happened: happened === true },
  };
}

const TAKE = `INSERT INTO toolwright_claims (${NEW_CLAIM.list()}) VALUES (${NEW_CLAIM.parameters(3)})
ON CONFLICT (idempotency_key) DO UPDATE SET ${NEW_CLAIM.omit("idempotencyKey", "toolName").excluded()}
WHERE toolwright_claims.call_key = ?1 AND toolwright_claims.attempt = CAST(?2 AS BIGINT)
  AND toolwright_claims.deleted_at_ms IS NULL`;

/**
 * Takes the key, or takes it over from the call that the caller has checked. 0 when another call holds it by now, or
 * retention has deleted the call that held it: such a key is never released.
 */
export function takeClaim(claim: Claim, from: Claim | undefined): Transaction<number> {
  return change(TAKE, from?.callKey ?? null, from?.attempt ?? null, ...NEW_CLAIM.values(claim));
}

/** The call had no effect: another call may take the key. */
export function releaseClaim(idempotencyKey: string, callKey: string): Transaction<number> {
  return change(
    "DELETE FROM toolwright_claims WHERE idempotency_key = ?1 AND call_key = ?2",
    idempotencyKey,
    callKey,
  );
}

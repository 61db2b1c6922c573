/** What an error of the PostgreSQL driver means: run it again, give the connection up, or tell the caller. */
import { ToolwrightError } from "../errors.ts";

// serialization_failure and deadlock_detected.
const CONFLICTS = new Set(["40001", "40P01"]);
// feature_not_supported ("cached plan must not change result type", after another process has migrated) and
// invalid_sql_statement_name: what this connection has prepared is of no use any more.
const OUTDATED = new Set(["0A000", "26000"]);
// too_many_connections and cannot_connect_now: a restarting server, or one that others keep busy.
const NOT_NOW = new Set(["53300", "57P03"]);
// admin_shutdown and crash_shutdown, and what the way to the server says.
const LOST = new Set(["57P01", "57P02", "ECONNRESET", "EPIPE"]);

/** The connection ended after the commit was asked for: nobody knows whether it was made. */
export class AnswerLost extends Error {
  constructor(cause: unknown) {
    super("the connection was lost during the commit", { cause });
    this.name = "AnswerLost";
  }
}

/** Nothing of it was committed, and it may work now. */
export function mayRunAgain(error: unknown): boolean {
  const code = codeOf(error);
  return CONFLICTS.has(code) || NOT_NOW.has(code) || isOutdated(error) || isLost(error);
}

export function isOutdated(error: unknown): boolean {
  return OUTDATED.has(codeOf(error));
}

/** The connection ended while it was in use. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (LOST.has(code) || code.startsWith("08")) return true;
  return code === "" && error instanceof Error && /terminated|not queryable/i.test(error.message);
}

/** What is not an error of ours came from the server or from the way to it. The address may hold a password. */
export function asStoreError(error: unknown): unknown {
  if (ToolwrightError.is(error) || !(error instanceof Error)) return error;
  const isDatabaseError = codeOf(error) !== "" || /connect|terminat|timeout|pool/i.test(error.message);
  if (!isDatabaseError) return error;
  return new ToolwrightError("TOOL_STORE_FAILED", `The PostgreSQL store failed: ${error.message}.`, {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

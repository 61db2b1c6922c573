/** Classifies errors of the PostgreSQL driver: retry, wait for the server, drop the connection, or report. */
import { ToolwrightError } from "../../errors.ts";

// serialization_failure and deadlock_detected.
const CONFLICTS = new Set(["40001", "40P01"]);
// feature_not_supported ("cached plan must not change result type", after another process has migrated).
const OUTDATED = "0A000";
// invalid_sql_statement_name and duplicate_prepared_statement: behind a pooler a name is prepared on another connection.
const UNNAMED_NEEDED = new Set(["26000", "42P05"]);
// too_many_connections, cannot_connect_now, and a server that cannot be reached: it restarts, or is overloaded. Container networks
// forget the name of a stopped container.
const NOT_NOW = new Set([
  "53300",
  "57P03",
  "ECONNREFUSED",
  "ENOENT",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "ENOTFOUND",
]);
// admin_shutdown, crash_shutdown, idle session timeouts, and network errors.
const LOST = new Set(["57P01", "57P02", "57P05", "25P03", "ECONNRESET", "EPIPE"]);
// Errors of the driver and of PgBouncer without a code.
const LOST_MESSAGE =
  /terminated|not queryable|timeout exceeded when trying to connect|server (closed|conn crashed)/i;

/** The connection ended after COMMIT was sent, and the server does not know whether it took effect. */
export class AnswerLost extends Error {
  constructor(cause: unknown) {
    super("the connection was lost during the commit, and the outcome is unknown", { cause });
    this.name = "AnswerLost";
  }
}

/** Nothing was committed, and another try may succeed immediately. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error)) || isOutdated(error);
}

/** Nothing was committed, and another try may succeed once the server is back. */
export function isUnavailable(error: unknown): boolean {
  return NOT_NOW.has(codeOf(error)) || isLost(error);
}

/** The prepared statements of this connection are invalid. */
export function isOutdated(error: unknown): boolean {
  return codeOf(error) === OUTDATED || needsUnnamed(error);
}

/** Named prepared statements do not work on this connection. */
export function needsUnnamed(error: unknown): boolean {
  return UNNAMED_NEEDED.has(codeOf(error));
}

/** The connection ended while it was in use. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (LOST.has(code) || code.startsWith("08")) return true;
  return code === "" && error instanceof Error && LOST_MESSAGE.test(error.message);
}

/** The server itself has refused a statement. After any other error, such as a time limit, it may have executed it. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && "severity" in error && !isLost(error);
}

/** A lock was not free within lock_timeout. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

/** Any other error comes from the server or the network. The message must not show the address: it may hold a password. */
export function asStoreError(error: unknown): unknown {
  if (ToolwrightError.is(error) || !(error instanceof Error)) return error;
  const isSignIn = SIGN_IN_MESSAGE.test(error.message);
  const isDatabaseError =
    isSignIn || codeOf(error) !== "" || /connect|terminat|timeout|pool/i.test(error.message);
  if (!isDatabaseError) return error;
  // A host with several addresses fails with a list of errors and no message of its own.
  const message = error.message === "" ? codeOf(error) : error.message;
  const code = isSignIn ? INVALID_PASSWORD : codeOf(error);
  return new ToolwrightError("TOOL_STORE_FAILED", `The PostgreSQL store failed: ${message}.`, {
    hint: HINTS.find(([codes]) => codes.has(code))?.[1] ?? (isLost(error) ? LOST_HINT : undefined),
    cause: error,
  });
}

const INVALID_PASSWORD = "28P01";
// Without a password the driver itself gives up, before the server can refuse it.
const SIGN_IN_MESSAGE = /^SASL:/;

// At the start, something else may listen at this address. Later, a run was cut off.
const LOST_HINT =
  "Check that the server is running, and that the address of the store names a PostgreSQL server. Then try again, or resume " +
  "the run: it continues from the last stored call.";

/** The address or the permissions are wrong, not the store: there is nothing to repair in it. */
const HINTS: readonly (readonly [codes: ReadonlySet<string>, hint: string])[] = [
  [
    // invalid_password and invalid_authorization_specification.
    new Set([INVALID_PASSWORD, "28000"]),
    "Correct the user name or the password in the address of the store (postgres://user:password@host/database), then try again.",
  ],
  [
    // invalid_catalog_name.
    new Set(["3D000"]),
    "Create the database, or correct its name in the address of the store, then try again.",
  ],
  [
    // insufficient_privilege.
    new Set(["42501"]),
    "Grant this user the right to create and use tables in the schema, or use another user.",
  ],
  [
    new Set(["ERR_INVALID_URL"]),
    "Correct the address of the store (postgres://user:password@host:5432/database). In a user name or password, write " +
      "special characters as percent codes: @ as %40, / as %2F, : as %3A, # as %23, % as %25.",
  ],
  [
    new Set(["ECONNREFUSED", "ENOENT", "ENOTFOUND", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"]),
    "Start the server, or correct the host and the port in the address of the store, then try again.",
  ],
];

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

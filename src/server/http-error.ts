/** Errors of the HTTP API: the status and body of each error, in one table. */
import { ToolwrightError } from "../errors.ts";

/** What the server itself refuses. Errors of operations keep their own codes. */
export const HTTP_ERRORS = {
  HTTP_BAD_REQUEST: { status: 400, meaning: "The request, its JSON or a query parameter is malformed." },
  HTTP_UNAUTHORIZED: { status: 401, meaning: "The request has no valid token and no valid session cookie." },
  HTTP_FORBIDDEN: { status: 403, meaning: "The token lacks the scope, or the server is read-only." },
  HTTP_HOST_REFUSED: { status: 403, meaning: "The Host header is not on the list of allowed hosts." },
  HTTP_ORIGIN_REFUSED: { status: 403, meaning: "A web page of another origin sent the request." },
  HTTP_NOT_FOUND: { status: 404, meaning: "There is no such route, file or workflow." },
  HTTP_METHOD_NOT_ALLOWED: { status: 405, meaning: "The route exists, with another method." },
  HTTP_TIMEOUT: { status: 408, meaning: "The body of the request did not arrive in time." },
  HTTP_BODY_TOO_LARGE: { status: 413, meaning: "The body is larger than 1 MiB." },
  HTTP_UNSUPPORTED_TYPE: { status: 415, meaning: "The body is not application/json." },
  HTTP_BODY_INVALID: { status: 422, meaning: "The body does not match the schema of the route." },
  HTTP_INTERNAL: { status: 500, meaning: "An unexpected error. The server's log has the message." },
  HTTP_TOO_MANY_STREAMS: { status: 503, meaning: "All event streams are in use." },
} as const satisfies Record<`HTTP_${string}`, { status: number; meaning: string }>;

export type HttpErrorCode = keyof typeof HTTP_ERRORS;

export class HttpError extends Error {
  readonly code: HttpErrorCode;
  readonly hint: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: HttpErrorCode,
    message: string,
    hint: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "HttpError";
    this.code = code;
    this.hint = hint;
    this.headers = headers;
  }
}

/** The status of each error code that an operation may throw. All others are 500. */
const STATUS_OF: Readonly<Record<string, number>> = {
  TOOL_RUN_NOT_FOUND: 404,
  TOOL_RUN_DELETED: 404,
  TOOL_APPROVAL_NOT_FOUND: 404,
  TOOL_CALL_NOT_FOUND: 404,
  TOOL_RESULT_DELETED: 404,
  WORKFLOW_SCHEDULE_NOT_FOUND: 404,
  TOOL_APPROVAL_SETTLED: 409,
  TOOL_APPROVAL_EXPIRED: 409,
  TOOL_APPROVAL_MISMATCH: 409,
  TOOL_RUN_CONFLICT: 409,
  TOOL_RUN_TAKEN: 409,
  TOOL_RUN_FENCED: 409,
  TOOL_RUN_REVERTED: 409,
  WORKFLOW_RUN_EXISTS: 409,
  WORKFLOW_RUN_CHANGED: 409,
  WORKFLOW_RUN_OVER: 409,
  TOOL_INPUT_INVALID: 422,
  TOOL_INPUT_REDACTED: 422,
  TOOL_OUTPUT_INVALID: 422,
  TOOL_OPTION_INVALID: 422,
  TOOL_FORK_INVALID: 422,
  WORKFLOW_INPUT_INVALID: 422,
  WORKFLOW_SIGNAL_INVALID: 422,
  WORKFLOW_INVALID: 500,
  TOOL_STORE_FAILED: 503,
  TOOL_STORE_VERSION: 503,
  TOOL_STORE_DAMAGED: 503,
  TOOL_RUNTIME_CLOSED: 503,
};

export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** @param isRead what is invalid in a request without a body is its query */
export function toErrorAnswer(error: unknown, isRead = false): ErrorAnswer {
  if (error instanceof HttpError) {
    const { code, message, hint, headers } = error;
    return { status: HTTP_ERRORS[code].status, body: { error: { code, message, hint } }, headers };
  }
  const status = ToolwrightError.is(error) ? STATUS_OF[error.code] : undefined;
  if (!ToolwrightError.is(error) || status === undefined) return UNEXPECTED;
  if (isRead && error.code === "TOOL_OPTION_INVALID")
    return toErrorAnswer(new HttpError("HTTP_BAD_REQUEST", withoutSurface(error.message), FIX_QUERY));
  const { code, message, hint, details } = error;
  const more = status === 409 && Object.keys(details).length > 0 ? { details } : {};
  const headers: Record<string, string> = status === 503 ? { "retry-after": "1" } : {};
  return { status, body: { error: { code, message, hint, ...more } }, headers };
}

/** Of every refused query. */
export const FIX_QUERY = "Correct the named query parameter.";

/** A client does not know the method of the runtime that refused its query. */
function withoutSurface(message: string): string {
  return message.replace(/^(?:runtime\.\w+: |Option )/, "The query is not valid: ");
}

/** The message of an unexpected error may hold anything, so it is logged and not sent. */
const UNEXPECTED: ErrorAnswer = {
  status: 500,
  body: {
    error: {
      code: "HTTP_INTERNAL",
      message: "The server failed to answer this request.",
      hint: "Read the message in the log of the server.",
    },
  },
  headers: {},
};

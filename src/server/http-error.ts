/** Errors of the HTTP API: the status and body of each error, in one table. */
import { ToolwrightError } from "../errors.ts";
import { answerOfError, type ErrorAnswer, RefusedRequest, unexpectedAnswer } from "../http/error-answer.ts";

/** What the server itself refuses. Errors of operations keep their own codes. */
export const HTTP_ERRORS = {
  HTTP_BAD_REQUEST: { status: 400, meaning: "The request, its JSON or a query parameter is malformed." },
  HTTP_UNAUTHORIZED: { status: 401, meaning: "The request has no valid token and no valid session cookie." },
  HTTP_FORBIDDEN: { status: 403, meaning: "The token lacks the scope, or the server is read-only." },
  HTTP_HOST_REFUSED: { status: 403, meaning: "The Host header is not on the list of allowed hosts." },
  HTTP_ORIGIN_REFUSED: { status: 403, meaning: "A web page of another origin sent the request." },
  HTTP_NOT_FOUND: { status: 404, meaning: "There is no such route, file or workflow." },
  HTTP_METHOD_NOT_ALLOWED: { status: 405, meaning: "The route exists, but not with this method." },
  HTTP_TIMEOUT: { status: 408, meaning: "The body of the request did not arrive in time." },
  HTTP_BODY_TOO_LARGE: { status: 413, meaning: "The body is larger than 1 MiB." },
  HTTP_UNSUPPORTED_TYPE: { status: 415, meaning: "The body is not application/json." },
  HTTP_BODY_INVALID: { status: 422, meaning: "The body does not match the schema of the route." },
  HTTP_INTERNAL: { status: 500, meaning: "An unexpected error. The server's log has the message." },
  HTTP_TOO_MANY_STREAMS: { status: 503, meaning: "All event streams are in use." },
} as const satisfies Record<`HTTP_${string}`, { status: number; meaning: string }>;

export type HttpErrorCode = keyof typeof HTTP_ERRORS;

export class HttpError extends RefusedRequest {
  constructor(
    code: HttpErrorCode,
    message: string,
    hint: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(HTTP_ERRORS[code].status, code, message, hint, headers);
  }
}

/** @param isRead what is invalid in a request without a body is its query */
export function toErrorAnswer(error: unknown, isRead = false): ErrorAnswer {
  if (isRead && ToolwrightError.is(error) && error.code === "TOOL_OPTION_INVALID")
    return toErrorAnswer(new HttpError("HTTP_BAD_REQUEST", withoutSurface(error.message), FIX_QUERY));
  return answerOfError(error) ?? unexpectedAnswer("HTTP_INTERNAL" satisfies HttpErrorCode);
}

/** The hint for every refused query. */
export const FIX_QUERY = "Correct the named query parameter.";

/** A client does not know the method of the runtime that refused its query. */
function withoutSurface(message: string): string {
  return message.replace(/^(?:runtime\.\w+: |Option )/, "The query is not valid: ");
}

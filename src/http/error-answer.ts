/** The HTTP status and body of each error, for every server of this package. */
import { ToolwrightError } from "../errors.ts";

/** What a server itself refuses. Errors of operations keep their own codes. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    hint: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = new.target.name;
    this.status = status;
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

/** `undefined` for an unexpected error. Its message may hold anything, so it is logged and not sent. */
export function answerOfError(error: unknown): ErrorAnswer | undefined {
  if (error instanceof RefusedRequest) {
    const { status, code, message, hint, headers } = error;
    return { status, body: { error: { code, message, hint } }, headers };
  }
  const status = ToolwrightError.is(error) ? STATUS_OF[error.code] : undefined;
  if (!ToolwrightError.is(error) || status === undefined) return undefined;
  const { code, message, hint, details } = error;
  const more = status === 409 && Object.keys(details).length > 0 ? { details } : {};
  const headers: Record<string, string> = status === 503 ? { "retry-after": "1" } : {};
  return { status, body: { error: { code, message, hint, ...more } }, headers };
}

/** The answer to an unexpected error. */
export function unexpectedAnswer(code: string): ErrorAnswer {
  const message = "The server failed to answer this request.";
  return {
    status: 500,
    body: { error: { code, message, hint: "Read the message in the log of the server." } },
    headers: {},
  };
}

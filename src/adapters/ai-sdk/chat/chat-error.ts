/** What the chat handler refuses, as an HTTP response. */
import { ToolwrightError } from "../../../errors.ts";

export class ChatError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;

  constructor(status: number, code: string, message: string, hint: string) {
    super(message);
    this.name = "ChatError";
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

const STATUS_OF: Readonly<Record<string, number>> = {
  TOOL_APPROVAL_NOT_FOUND: 404,
  TOOL_APPROVAL_SETTLED: 409,
  TOOL_APPROVAL_EXPIRED: 409,
  TOOL_APPROVAL_MISMATCH: 409,
  TOOL_RUN_CONFLICT: 409,
  TOOL_RUN_TAKEN: 409,
  TOOL_RUN_FENCED: 409,
  TOOL_RUN_DELETED: 410,
  TOOL_OPTION_INVALID: 422,
};

/** Unexpected errors are shown to the server, not to the client. */
export function errorResponse(error: unknown): Response {
  const { status, code, message, hint } = described(error);
  return Response.json({ error: { code, message, hint } }, { status });
}

function described(error: unknown): { status: number; code: string; message: string; hint: string } {
  if (error instanceof ChatError) return error;
  if (ToolwrightError.is(error) && STATUS_OF[error.code] !== undefined) {
    const { code, message, hint } = error;
    return { status: STATUS_OF[code] ?? 500, code, message, hint };
  }
  console.error("toolwright: a chat request failed:", error);
  return {
    status: 500,
    code: "CHAT_INTERNAL",
    message: "The request failed.",
    hint: "The log of the server says why.",
  };
}

/** What the chat handler refuses, as an HTTP response. */
import { answerOfError, RefusedRequest, unexpectedAnswer } from "../../../http/error-answer.ts";

export class ChatError extends RefusedRequest {}

/** Unexpected errors are shown to the server, not to the client. */
export function errorResponse(error: unknown): Response {
  const known = answerOfError(error);
  if (known === undefined) console.error("toolwright: a chat request failed:", error);
  const { status, body, headers } = known ?? unexpectedAnswer("CHAT_INTERNAL");
  return Response.json(body, { status, headers });
}

/** Serves the AI SDK's `useChat`: durable turns, streams that resume, stops and approvals. */
import { aFunction, aRuntime, must } from "../../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../../definition/option-table.ts";
import { useRuntime } from "../../../runtime/create-runtime.ts";
import type { Runtime } from "../../../runtime/runtime.ts";
import { ChatError, errorResponse } from "./chat-error.ts";
import { checkChatId, parseRequest, readBody } from "./chat-request.ts";
import { Chats } from "./chats.ts";
import type { ChatAgent } from "./drive-turn.ts";
import type { ChatIdentity } from "./settle-decisions.ts";

/** The kinds of chat requests. */
export interface ChatAccess {
  readonly chatId: string;
  readonly action: "send" | "read" | "stop";
}

export interface ChatHandlerOptions {
  readonly runtime: Runtime;
  /** An AI SDK agent. Its model is recorded. */
  readonly agent: ChatAgent;
  /** A falsy result refuses the request. Check here whether the caller may use this chat. */
  readonly authorize: (
    request: Request,
    access: ChatAccess,
  ) => ChatIdentity | null | undefined | false | PromiseLike<ChatIdentity | null | undefined | false>;
}

export type ChatHandler = (request: Request) => Promise<Response>;

const aStreamingAgent = must(
  (value) => typeof (value as Partial<ChatAgent> | null | undefined)?.stream === "function",
  "an agent with stream(), such as a ToolLoopAgent",
);

export const CHAT_HANDLER_OPTIONS: OptionTable = optionTable<ChatHandlerOptions>(
  "createChatHandler",
  { runtime: aRuntime, agent: aStreamingAgent, authorize: aFunction },
  { required: ["runtime", "agent", "authorize"], example: "{ runtime, agent, authorize }" },
);

/**
 * `POST <api>` takes a message, `GET <api>/:id/stream` resumes its stream, `DELETE <api>/:id/stream` stops the turn. A
 * client that disconnects does not stop it.
 *
 * @example
 * const chat = createChatHandler({ runtime, agent, authorize: (request) => ({ name: userOf(request) }) });
 * app.all("/api/chat/*", (c) => chat(c.req.raw));
 */
export function createChatHandler(options: ChatHandlerOptions): ChatHandler {
  checkOptions(CHAT_HANDLER_OPTIONS, options);
  const { runtime, agent } = options;
  const chats = new Chats(runtime, agent);
  return async (request) => {
    try {
      return await useRuntime(runtime, (opened) => answer(chats.with(opened), options, request));
    } catch (error) {
      return errorResponse(error);
    }
  };
}

async function answer(
  chats: ReturnType<Chats["with"]>,
  options: ChatHandlerOptions,
  request: Request,
): Promise<Response> {
  const url = new URL(request.url);
  if (request.method === "POST") return send(chats, options, request);
  const [, id] = /\/([^/]+)\/stream\/?$/.exec(url.pathname) ?? [];
  if (id === undefined) throw new ChatError(404, "CHAT_NOT_FOUND", "There is no such route.", ROUTES);
  if (request.method !== "GET" && request.method !== "DELETE")
    throw new ChatError(405, "CHAT_METHOD_NOT_ALLOWED", `${request.method} is not allowed here.`, ROUTES);
  const chatId = checkChatId(decoded(id));
  if (request.method === "GET") {
    await authorized(options, request, { chatId, action: "read" });
    return chats.resume(chatId, fromOf(url, request));
  }
  await authorized(options, request, { chatId, action: "stop" });
  await chats.stop(chatId);
  return new Response(null, { status: 204 });
}

const ROUTES = "Use POST <api>, GET <api>/:id/stream or DELETE <api>/:id/stream.";

async function send(
  chats: ReturnType<Chats["with"]>,
  options: ChatHandlerOptions,
  request: Request,
): Promise<Response> {
  let problem: unknown;
  const parsed = await readBody(request.clone())
    .then(parseRequest)
    .catch((error: unknown) => {
      problem = error;
    });
  // Only authorized callers may learn whether the body is valid.
  const identity = await authorized(options, request, { chatId: parsed?.chatId ?? "", action: "send" });
  if (parsed === undefined) throw problem;
  return chats.send(parsed, identity);
}

async function authorized(
  { authorize }: ChatHandlerOptions,
  request: Request,
  access: ChatAccess,
): Promise<ChatIdentity> {
  const identity = await authorize(request, access);
  if (typeof identity === "object" && identity !== null && typeof identity.name === "string") return identity;
  throw identity === false
    ? new ChatError(
        403,
        "CHAT_FORBIDDEN",
        "The caller is not allowed to use this chat.",
        "Sign in as a user who has access.",
      )
    : new ChatError(401, "CHAT_UNAUTHORIZED", "The caller is not signed in.", "Sign in.");
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new ChatError(
      400,
      "CHAT_BAD_REQUEST",
      "The chat id is not valid.",
      "Encode it as encodeURIComponent does.",
    );
  }
}

/** `?from=` is the index of the first part; `Last-Event-ID` is the index of the last part that arrived. */
function fromOf(url: URL, request: Request): number | undefined {
  const given = url.searchParams.get("from");
  const last = request.headers.get("last-event-id");
  if (given === null && (last === null || last === "")) return undefined;
  const from = given === null ? Number(last) + 1 : Number(given === "" ? Number.NaN : given);
  if (Number.isSafeInteger(from) && from >= 0) return from;
  throw new ChatError(
    400,
    "CHAT_BAD_REQUEST",
    "`from` must be an integer of at least 0.",
    "Leave it out to start over.",
  );
}

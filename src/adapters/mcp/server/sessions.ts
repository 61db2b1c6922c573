/**
 * HTTP sessions for clients of the 2025 protocol. Each has a server object, so that the client can be asked for
 * approval, can cancel with a notification and can set its log level. Streams can be resumed. Other requests go to
 * the stateless handler.
 */
import { randomUUID } from "node:crypto";
import {
  type McpHttpHandler,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { createEventStore } from "./event-store.ts";
import { OpenRequests } from "./open-requests.ts";

const MAX_SESSIONS = 1_000;
/** A larger request is not an `initialize` request. */
const MAX_HANDSHAKE_BYTES = 65_536;
/** Sent to clients: how long to wait before they reconnect. */
const RETRY_MS = 500;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly open: OpenRequests;
}

export function withSessions(
  createServer: () => McpServer,
  stateless: McpHttpHandler,
  onError: (error: Error) => void,
): Pick<McpHttpHandler, "fetch" | "close"> {
  // In the order of use, the least recently used first.
  const sessions = new Map<string, Session>();

  const start = async (request: Request, body: unknown): Promise<Response> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: createEventStore(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        sessions.set(id, session);
      },
    });
    const session: Session = { transport, open: new OpenRequests(transport) };
    const server = createServer();
    const onclose = (): boolean => sessions.delete(transport.sessionId ?? "");
    Object.assign(server.server, { onclose, onerror: onError });
    await server.connect(transport);
    session.open.watch();
    const response = await transport.handleRequest(request, { parsedBody: body });
    if (transport.sessionId === undefined) await transport.close();
    await closeIdle(sessions);
    return response;
  };

  const resume = (session: Session, id: string, request: Request): Promise<Response> => {
    sessions.delete(id);
    sessions.set(id, session);
    session.open.connect(request);
    return session.transport.handleRequest(request);
  };

  return {
    fetch: async (request) => {
      const id = request.headers.get("mcp-session-id");
      const session = id === null ? undefined : sessions.get(id);
      if (id !== null && session !== undefined) return resume(session, id, request);
      // A 404 makes the client start a new session.
      if (id !== null) return notFound();
      const handshake = await handshakeIn(request);
      return handshake === undefined ? stateless.fetch(request) : start(request, handshake);
    },
    close: async () => {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
      await stateless.close();
    },
  };
}

async function closeIdle(sessions: Map<string, Session>): Promise<void> {
  const surplus = sessions.size - MAX_SESSIONS;
  if (surplus <= 0) return;
  const idle = Array.from(sessions.values()).filter(({ open }) => open.size === 0);
  await Promise.all(idle.slice(0, surplus).map(({ transport }) => transport.close()));
}

/** The body of an `initialize` request; `undefined` for other requests, whose body stays unread. */
async function handshakeIn(request: Request): Promise<unknown> {
  const { method, headers } = request;
  const length = Number(headers.get("content-length") ?? Infinity);
  if (method !== "POST" || headers.has("mcp-protocol-version") || length > MAX_HANDSHAKE_BYTES)
    return undefined;
  try {
    const body: unknown = await request.clone().json();
    const isHandshake =
      typeof body === "object" && body !== null && "method" in body && body.method === "initialize";
    return isHandshake ? body : undefined;
  } catch {
    // Not JSON: the stateless handler reports it.
    return undefined;
  }
}

function notFound(): Response {
  const error = { code: -32_001, message: "Session not found: initialize again." };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}

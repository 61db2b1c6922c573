/** Which client sent a request, as far as the transport tells. */
import type { ServerContext } from "@modelcontextprotocol/server";

/**
 * A connection is one client. Over HTTP each request stands alone, unless the client sends the session id that it got
 * with its handshake.
 * @param connection identifies the server object that a connection has for itself
 */
export function clientOf({ sessionId, http }: ServerContext, connection: string): string | undefined {
  const session = sessionId ?? http?.req?.headers.get("mcp-session-id") ?? undefined;
  if (session !== undefined) return `session ${session}`;
  return http === undefined ? `connection ${connection}` : undefined;
}

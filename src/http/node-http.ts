/** Converts Node's requests and responses to web ones. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/**
 * @param signal fires when the client disconnects
 * @param url the target, if a framework has changed the target of the request
 */
export function toWebRequest(
  request: IncomingMessage,
  signal: AbortSignal,
  url: string = request.url ?? "/",
): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value])
      headers.append(name, one);
  }
  const method = request.method ?? "GET";
  const hasBody = method !== "GET" && method !== "HEAD" && holdsBody(request);
  // Concatenated: `//name/path` would otherwise be an address of another host.
  return new Request(url.startsWith("/") ? `http://localhost${url}` : new URL(url, "http://localhost"), {
    method,
    headers,
    signal,
    ...(hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: "half" } : {}),
  });
}

function holdsBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? "0") > 0;
}

export async function sendWebResponse(response: Response, to: ServerResponse): Promise<void> {
  to.writeHead(response.status, Object.fromEntries(response.headers));
  to.flushHeaders();
  if (response.body === null) {
    to.end();
    return;
  }
  await pipeline(Readable.fromWeb(response.body), to);
}

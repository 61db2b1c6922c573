/** A small server: the page, its script, and the chat. On this machine only. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { LanguageModel } from "ai";
import { build } from "esbuild";
import type { Runtime } from "toolwright";
import { toNodeListener } from "toolwright/server";
import { createChat } from "./chat.ts";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Chat</title>
<style>
  body { font: 16px/1.5 system-ui; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; }
  [data-role="user"] { font-weight: 600; }
  input { width: 100%; padding: 0.5rem; box-sizing: border-box; }
</style>
<div id="root"></div>
<script type="module" src="/page.js"></script>
</html>`;

export interface ChatServerOptions {
  readonly runtime: Runtime;
  readonly model: LanguageModel;
  /** 0: any free port. */
  readonly port: number;
}

export async function serveChat({
  runtime,
  model,
  port,
}: ChatServerOptions): Promise<{ server: Server; url: string }> {
  const script = await bundle();
  const chat = toNodeListener(createChat(runtime, model));
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    // A page of another site could reach this server under its own name.
    if (request.headers.host !== hostOf(server)) return send(response, 403, "text/plain", "Forbidden");
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname.startsWith("/api/chat")) return chat(request, response);
    if (pathname === "/page.js") return send(response, 200, "text/javascript", script);
    if (pathname === "/") return send(response, 200, "text/html", PAGE);
    return send(response, 404, "text/plain", "Not found");
  };
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return { server, url: `http://${hostOf(server)}` };
}

function hostOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": `${type}; charset=utf-8` }).end(body);
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("chat-page.tsx", import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0]?.text ?? "";
}

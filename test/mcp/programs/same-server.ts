/**
 * One program, written twice: with tools of the official server, and with ours. `plain` or `ours`, over `stdio` or
 * `http`, which prints its address.
 */
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { createMcpServer, serveMcpHttp } from "../../../src/adapters/mcp/index.ts";
import { sendWebResponse, toWebRequest } from "../../../src/http/node-http.ts";
import { createRuntime, defineTool } from "../../../src/index.ts";

const [kind, transport] = process.argv.slice(2);
const PNG = "iVBORw0KGgo=";
const pair = z.object({ a: z.number().describe("The first"), b: z.number().default(1) });
const sum = z.object({ sum: z.number() });
const nothing = z.object({});
const blocks = [
  { type: "text" as const, text: "A dot" },
  { type: "image" as const, data: PNG, mimeType: "image/png" },
];

// A client that has the result drops its progress listener, so the tool waits until the client has the progress.
const heard = Promise.withResolvers<void>();

function createPlain(): McpServer {
  const server = new McpServer({ name: "same", version: "1.0.0" }, { capabilities: { logging: {} } });
  const add = { description: "Adds", inputSchema: pair, outputSchema: sum };
  server.registerTool("add", add, ({ a, b }) => ({
    content: [{ type: "text", text: JSON.stringify({ sum: a + b }) }],
    structuredContent: { sum: a + b },
  }));
  server.registerTool("say", { description: "Says", inputSchema: nothing }, () => ({
    content: [{ type: "text", text: "hello" }],
  }));
  server.registerTool("draw", { description: "Draws", inputSchema: nothing }, () => ({ content: blocks }));
  server.registerTool("fail", { description: "Fails", inputSchema: nothing }, () => {
    throw new Error("out of order");
  });
  server.registerTool("work", { description: "Works", inputSchema: nothing }, async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [1, 2]) {
      await mcpReq.log("info", `step ${progress}`, "work");
      if (progressToken === undefined) continue;
      const params = { progressToken, progress, total: 2, message: `step ${progress}` };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
    await heard.promise;
    return { content: [{ type: "text", text: "done" }] };
  });
  server.registerTool("heard", { description: "Heard", inputSchema: nothing }, () => {
    heard.resolve();
    return { content: [{ type: "text", text: "ok" }] };
  });
  server.registerTool("hang", { description: "Hangs", inputSchema: nothing }, async (_args, { mcpReq }) => {
    await mcpReq.log("info", "begun", "hang");
    await untilStopped(mcpReq.signal);
    return { content: [{ type: "text", text: "stopped" }] };
  });
  return server;
}

const tools = [
  defineTool({
    name: "add",
    description: "Adds",
    schema: pair,
    outputSchema: sum,
    execute: ({ a, b }) => ({ sum: a + b }),
  }),
  defineTool({ name: "say", description: "Says", schema: nothing, execute: () => "hello" }),
  defineTool({ name: "draw", description: "Draws", schema: nothing, execute: () => ({ content: blocks }) }),
  defineTool({
    name: "fail",
    description: "Fails",
    schema: nothing,
    execute: () => {
      throw new Error("out of order");
    },
  }),
  defineTool({
    name: "work",
    description: "Works",
    schema: nothing,
    execute: async (_args, ctx) => {
      for (const progress of [1, 2]) {
        ctx.log.info(`step ${progress}`);
        ctx.progress(progress, 2, `step ${progress}`);
      }
      await heard.promise;
      return "done";
    },
  }),
  defineTool({
    name: "heard",
    description: "Heard",
    schema: nothing,
    execute: () => {
      heard.resolve();
      return "ok";
    },
  }),
  defineTool({
    name: "hang",
    description: "Hangs",
    schema: nothing,
    execute: async (_args, ctx) => {
      ctx.log.info("begun");
      await untilStopped(ctx.signal);
      return "stopped";
    },
  }),
];

async function untilStopped(signal: AbortSignal): Promise<void> {
  await pause(60_000, undefined, { signal }).catch(() => undefined);
  console.error("stopped");
}

const runtime = createRuntime({ store: ":memory:" });
const options = { tools, runtime, name: "same", version: "1.0.0" };
if (transport === "stdio") {
  serveStdio(() => (kind === "plain" ? createPlain() : createMcpServer(options)));
} else if (kind === "plain") {
  const handler = createMcpHandler(createPlain);
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    handler.fetch(toWebRequest(request, gone.signal)).then(
      (answer) => sendWebResponse(answer, response),
      (error: unknown) => console.error(error),
    );
  });
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    console.log(`http://127.0.0.1:${port}/mcp`);
  });
} else {
  console.log((await serveMcpHttp({ ...options, token: false })).url);
}

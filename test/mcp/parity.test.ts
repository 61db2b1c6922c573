/**
 * The same program with tools of the official server and with ours: a client sees the same, over stdio and over HTTP.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { createRuntime, defineTool } from "toolwright";
import { createMcpServer } from "toolwright/mcp";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { quickStart } from "../quick-start.ts";
import type { Era } from "./harness.ts";

const PROGRAM = join(import.meta.dirname, "programs/same-server.ts");
const ENV = {
  PATH: process.env["PATH"] ?? "",
  ...quickStart("own"),
};

interface Connected {
  readonly client: Client;
  /** Resolves when the program has written this line to stderr. */
  readonly heard: (line: string) => Promise<void>;
  readonly logs: unknown[];
  readonly logged: () => Promise<void>;
  /**
   * The official handler serves requests of the 2025 protocol one by one: a notification reaches none of the others.
   */
  readonly canCancel: boolean;
}

async function connect(kind: string, transport: string, era: Era): Promise<Connected> {
  const client = new Client(
    { name: "a test", version: "1.0.0" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );
  onTestFinished(() => client.close());
  const logs: unknown[] = [];
  let announce = (): void => undefined;
  client.setNotificationHandler("notifications/message", ({ params }) => {
    logs.push(params);
    announce();
  });
  const logged = (): Promise<void> => new Promise((resolve) => (announce = resolve));
  const args = [PROGRAM, kind, transport];
  if (transport === "stdio") {
    const stdio = new StdioClientTransport({ command: process.execPath, args, env: ENV, stderr: "pipe" });
    const lines = linesOf(stdio.stderr as Readable);
    await client.connect(stdio);
    return { client, logs, logged, heard: lines, canCancel: true };
  }
  const child = spawn(process.execPath, args, { env: ENV, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const lines = linesOf(child.stderr);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, logs, logged, heard: lines, canCancel: kind === "ours" || era === "modern" };
}

function linesOf(stream: Readable): (line: string) => Promise<void> {
  const seen: string[] = [];
  let announce = (): void => undefined;
  createInterface({ input: stream }).on("line", (line) => {
    seen.push(line);
    announce();
  });
  return async (line) => {
    while (!seen.includes(line)) await new Promise<void>((resolve) => (announce = resolve));
  };
}

/** Everything that the client can observe. */
async function explore({ client, logs, logged, heard, canCancel }: Connected, era: Era) {
  const logLevel = { _meta: { "io.modelcontextprotocol/logLevel": "info" } };
  const more = era === "modern" ? logLevel : {};
  const call = async (name: string, args: Record<string, unknown> = {}, options = {}) => {
    const result = await client.callTool({ name, arguments: args, ...more }, options);
    const { content, structuredContent, isError = false } = result;
    return { content, structuredContent, isError };
  };
  const { tools } = await client.listTools();
  const progress: unknown[] = [];
  const hear = (report: unknown): void => {
    if (progress.push(report) === 2) void call("heard");
  };
  const found = {
    tools: tools.map(({ name, description, inputSchema, outputSchema }) => ({
      name,
      description,
      inputSchema,
      outputSchema,
    })),
    add: await call("add", { a: 1 }),
    say: await call("say"),
    draw: await call("draw"),
    work: await call("work", {}, { onprogress: hear }),
    progress,
    logs,
    capabilities: client.getServerCapabilities(),
  };
  const failures = {
    fail: await call("fail"),
    badInput: await call("add", { a: "one" }).catch((error: Error) => ({ isError: true, error })),
    unknown: await call("nothing").then(
      () => "a result",
      () => "an error of the protocol",
    ),
  };
  const cancel = new AbortController();
  const begun = logged();
  const hanging = call("hang", {}, { signal: cancel.signal });
  await begun;
  cancel.abort();
  await expect(hanging).rejects.toThrow();
  if (canCancel) await heard("stopped");
  return { found: { ...found, logs: logs.slice(0, 2) }, failures };
}

describe.each([
  ["stdio", "legacy"],
  ["stdio", "modern"],
  ["http", "modern"],
  ["http", "legacy"],
] as const)("over %s, a %s client", (transport, era) => {
  it("sees the same tools, results, progress and logs, and cancels", { timeout: 60_000 }, async () => {
    const [ours, plain] = await Promise.all(
      ["ours", "plain"].map(async (kind) => explore(await connect(kind, transport, era), era)),
    );
    const { capabilities: _ours, ...found } = ours?.found ?? {};
    const { capabilities: _plain, ...expected } = plain?.found ?? {};
    expect(found).toEqual(expected);
    expect(ours?.failures.unknown).toBe(plain?.failures.unknown);
    for (const failures of [ours?.failures, plain?.failures]) {
      expect(failures?.badInput.isError).toBe(true);
      expect(failures?.fail.isError).toBe(true);
    }
    // Our errors contain more: the message has the standard error shape.
    expect(JSON.stringify(plain?.failures.fail.content)).toContain("out of order");
    expect(JSON.stringify(ours?.failures.fail.content)).toContain("out of order");
  });
});

it("tools that a program adds later are announced", async () => {
  const schema = z.object({});
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime.close());
  const say = defineTool({ name: "say", schema, execute: () => "hello" });
  const plain = new McpServer({ name: "same", version: "1.0.0" });
  plain.registerTool("say", { inputSchema: schema }, () => ({ content: [] }));
  for (const server of [plain, createMcpServer({ tools: [say], runtime })]) {
    const changed = Promise.withResolvers<unknown>();
    const client = new Client(
      { name: "a test", version: "1.0.0" },
      { listChanged: { tools: { onChanged: (_error, tools) => changed.resolve(tools) } } },
    );
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    onTestFinished(() => client.close());
    expect(client.getServerCapabilities()?.tools?.listChanged).toBe(true);
    server.registerTool("later", { inputSchema: schema }, () => ({ content: [] }));
    expect(await changed.promise).toMatchObject([{ name: "say" }, { name: "later" }]);
  }
});

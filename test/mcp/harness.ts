/** The real `toolwright mcp` in its own process, and the official client connected to it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { createRuntime, type Runtime } from "../../src/index.ts";
import { MCP_IDEMPOTENCY_KEY } from "../../src/adapters/mcp/index.ts";
import { quickStart } from "../quick-start.ts";
import { createFolder, MAIN } from "../cli/command.ts";

/** Tools whose effects are lines in a file, outside of any store. */
const CONFIG = `
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { defineTool } from "toolwright";
import { z } from "zod";

console.log("noise of the config");
const placed = () => (existsSync("ledger") ? readFileSync("ledger", "utf8").split("\\n").filter(Boolean) : []);
// The service honours keys where it gets one.
const place = (sku, key) => {
  if (!placed().includes(key + " " + sku)) appendFileSync("ledger", (key ?? "blind") + " " + sku + "\\n");
  if (existsSync("crash")) {
    rmSync("crash");
    process.kill(process.pid, "SIGKILL");
  }
  return { sku, orders: placed().length };
};
const order = z.object({ sku: z.string().min(1) });
const effect = { schema: order, sideEffect: true, idempotent: false };
const risky = defineTool({
  ...effect, name: "risky_order", needsApproval: true, approvalPrompt: ({ sku }) => "Order " + sku + "?",
  outputSchema: z.object({ sku: z.string(), orders: z.number() }),
  execute: ({ sku }, ctx) => place(sku, ctx.idempotencyKey),
});

export default {
  store: "mcp.db",
  tools: {
    add: defineTool({
      name: "add", description: "Adds", schema: z.object({ a: z.number(), b: z.number().default(1) }),
      outputSchema: z.object({ sum: z.number() }),
      execute: ({ a, b }) => (console.log("noise of a tool"), { sum: a + b }),
    }),
    when: defineTool({
      name: "when", schema: z.object({}), outputSchema: z.object({ at: z.date(), note: z.string().optional() }),
      execute: () => ({ at: new Date(0), note: undefined }),
    }),
    place_order: defineTool({ ...effect, name: "place_order", execute: ({ sku }, ctx) => place(sku, ctx.idempotencyKey) }),
    place_blind: defineTool({ ...effect, name: "place_blind", execute: ({ sku }) => place(sku, null) }),
    risky_order: risky,
    both: defineTool({
      name: "both", schema: z.object({}), sideEffect: true, idempotent: true,
      execute: () => Promise.all(["gold", "silver"].map((sku) => risky.execute({ sku }))),
    }),
    slow: defineTool({
      name: "slow", schema: z.object({ steps: z.number().default(1e9) }), sideEffect: true, idempotent: false,
      execute: async ({ steps }, ctx) => {
        ctx.signal.addEventListener("abort", () => writeFileSync("aborted", ""));
        for (let step = 1; step <= steps && !ctx.signal.aborted; step += 1) {
          ctx.progress("step " + step, { progress: step, total: steps });
          writeFileSync("started", ctx.idempotencyKey);
          await pause(20);
        }
        // A client that has the result immediately forgets who listens to the progress.
        while (!ctx.signal.aborted && !existsSync("heard")) await pause(20);
        return "done";
      },
    }),
    broken: defineTool({ name: "broken", schema: z.object({}), execute: () => { throw new Error("out of order"); } }),
    stray: defineTool({
      name: "stray", schema: z.object({}),
      execute: () => { setTimeout(() => { throw new Error("stray"); }); Promise.reject(new Error("left behind")); return "ok"; },
    }),
    failing: defineTool({ name: "failing", schema: z.object({}), execute: () => ({ is_error: true, message: "no" }) }),
    odd: defineTool({ name: "an odd/name", schema: z.object({}), execute: () => "odd" }),
    inherited: defineTool({ name: "constructor", schema: z.object({}), execute: () => "inherited" }),
    listed: defineTool({ name: "listed", schema: z.array(z.string()), execute: () => "never" }),
  },
};
`;

export type Era = "legacy" | "modern";

export function createServerFolder(): string {
  return createFolder({ "toolwright.config.ts": CONFIG });
}

interface ConnectOptions {
  readonly era?: Era;
  /** The answers of the client's user; without it, the client does not support elicitation. */
  readonly onElicit?: (message: string) => { action: "accept" | "decline" | "cancel"; content?: object };
  readonly args?: readonly string[];
}

export function createClient({ era = "legacy", onElicit }: ConnectOptions = {}): Client {
  const options: ClientOptions = {
    capabilities: onElicit === undefined ? {} : { elicitation: { form: {} } },
    versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
  };
  const client = new Client({ name: "a test", version: "1.0.0" }, options);
  if (onElicit !== undefined) {
    client.setRequestHandler("elicitation/create", (request) => onElicit(request.params.message) as never);
  }
  onTestFinished(() => client.close());
  return client;
}

export async function connect(folder: string, options: ConnectOptions = {}): Promise<Client> {
  const client = createClient(options);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp", ...(options.args ?? [])],
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", ...quickStart("own") },
    stderr: "ignore",
  });
  await client.connect(transport);
  return client;
}

export function keyed(key: string): { _meta: Record<string, unknown> } {
  return { _meta: { [MCP_IDEMPOTENCY_KEY]: key } };
}

/** The effects so far, in order. */
export function ledgerOf(folder: string): string[] {
  const file = join(folder, "ledger");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => line.split(" ")[1] ?? "");
}

/** For a call of "slow" with this many steps: it ends once the client has received all of them. */
export function hearSteps(
  folder: string,
  steps: number,
): { heard: unknown[]; onprogress: (progress: unknown) => void } {
  const heard: unknown[] = [];
  const onprogress = (progress: unknown): void => {
    if (heard.push(progress) === steps) writeFileSync(join(folder, "heard"), "");
  };
  return { heard, onprogress };
}

export function crashAfterNextEffect(folder: string): void {
  writeFileSync(join(folder, "crash"), "");
}

/** Another program on the server's store. */
export function openRuntime(folder: string): Runtime {
  const runtime = createRuntime({ store: join(folder, "mcp.db") });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
  return runtime;
}

export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await pause(10);
}

interface Answer {
  readonly content?: unknown;
  readonly isError?: boolean | undefined;
}

/** The error of a result, in the shape that models read. */
export function errorOf({ content, isError }: Answer): Record<string, string> {
  const [{ text }] = content as [{ text: string }];
  return isError === true ? (JSON.parse(text) as Record<string, string>) : {};
}

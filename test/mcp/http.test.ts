/** HTTP on loopback: the real command, real sockets, and unauthorised requests. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRuntime } from "../../src/index.ts";
import { serveMcpHttp } from "../../src/adapters/mcp/index.ts";
import { MAIN } from "../cli/command.ts";
import {
  createClient,
  createServerFolder,
  type Era,
  errorOf,
  hearSteps,
  keyed,
  ledgerOf,
  openRuntime,
  until,
} from "./harness.ts";

interface Served {
  readonly url: string;
  readonly token: string;
  readonly stderr: () => string;
}

async function serve(folder: string, env: Record<string, string> = {}): Promise<Served> {
  const child = spawn(process.execPath, [MAIN, "mcp", "--http"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const isReady = (): boolean =>
    /at http\S+\n/.test(stderr) && (/Bearer \S+\n/.test(stderr) || "TOOLWRIGHT_MCP_TOKEN" in env);
  await until(isReady);
  return {
    url: /at (http\S+)\n/.exec(stderr)?.[1] ?? "",
    token: /Bearer (\S+)\n/.exec(stderr)?.[1] ?? env["TOOLWRIGHT_MCP_TOKEN"] ?? "",
    stderr: () => stderr,
  };
}

async function connectTo(
  { url, token }: Served,
  options: Parameters<typeof createClient>[0],
): Promise<Client> {
  const client = createClient(options);
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** One request by hand, with headers that a browser or an attacker would send. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    const sent = request(
      url,
      {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          ...headers,
        },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

describe.each<Era>(["legacy", "modern"])("%s clients", (era) => {
  it("list, call, receive progress, and get the logged result for their key", async () => {
    const folder = createServerFolder();
    const client = await connectTo(await serve(folder), { era });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("add");
    expect((await client.callTool({ name: "add", arguments: { a: 1 } })).structuredContent).toEqual({
      sum: 2,
    });
    const { heard, onprogress } = hearSteps(folder, 2);
    await client.callTool({ name: "slow", arguments: { steps: 2 } }, { onprogress });
    expect(heard).toHaveLength(2);
    for (let count = 0; count < 2; count += 1) {
      const order = { name: "place_blind", arguments: { sku: "a" }, ...keyed("k") };
      expect((await client.callTool(order)).structuredContent).toEqual({ sku: "a", orders: 1 });
    }
    expect(ledgerOf(folder)).toEqual(["a"]);
  });

  it("cancel a call", async () => {
    const folder = createServerFolder();
    const client = await connectTo(await serve(folder), { era });
    const cancel = new AbortController();
    const call = client.callTool({ name: "slow", arguments: {} }, { signal: cancel.signal });
    await until(() => existsSync(join(folder, "started")));
    cancel.abort();
    await expect(call).rejects.toThrow();
    if (era === "legacy") await client.close();
    await until(() => existsSync(join(folder, "aborted")));
    const runtime = openRuntime(folder);
    await until(async () => (await runtime.calls({ toolName: "slow" }))[0]?.status === "unknown");
  });
});

it.each<Era>(["legacy", "modern"])(
  "asks the user of a %s client that can ask, and explains how to continue to one that cannot",
  async (era) => {
    const folder = createServerFolder();
    const served = await serve(folder);
    const risky = { name: "risky_order", arguments: { sku: "gold" } };
    const asking = await connectTo(served, { era, onElicit: () => ({ action: "accept" }) });
    expect((await asking.callTool(risky)).structuredContent).toEqual({ sku: "gold", orders: 1 });
    const other = await connectTo(served, { era });
    expect(errorOf(await other.callTool(risky))["error_type"]).toBe("approval_pending");
  },
);

it("refuses requests without the token, under another host name, or from a web page", async () => {
  const served = await serve(createServerFolder());
  const { url, token } = served;
  const Authorization = `Bearer ${token}`;
  expect(await statusOf(url, { Authorization })).toBe(200);
  expect(await statusOf(url, { Authorization, Origin: "http://localhost:3000" })).toBe(200);
  expect(await statusOf(url, {})).toBe(401);
  expect(await statusOf(url, { Authorization: `Bearer ${token}x` })).toBe(401);
  expect(await statusOf(url, { Authorization: token })).toBe(401);
  expect(await statusOf(`${url}?token=${token}`, {})).toBe(401);
  expect(await statusOf(url, { Authorization, Origin: "https://evil.example" })).toBe(403);
  expect(await statusOf(url, { Authorization, Origin: "null" })).toBe(403);
  expect(await statusOf(url, { Authorization, Host: "evil.example" })).toBe(403);
  expect(await statusOf(url.replace(/mcp$/, "other"), { Authorization })).toBe(404);
  expect(new URL(url).hostname).toBe("127.0.0.1");
});

it("takes the token from the environment, and does not print that one", async () => {
  const served = await serve(createServerFolder(), { TOOLWRIGHT_MCP_TOKEN: "a-secret" });
  expect(await statusOf(served.url, { Authorization: "Bearer a-secret" })).toBe(200);
  expect(served.stderr()).not.toContain("a-secret");
});

it.each([[""], ["two words"], ["schlüssel"], [true], [7]])("refuses the token %j", async (token) => {
  await using runtime = createRuntime({ store: ":memory:" });
  await expect(serveMcpHttp({ tools: [], runtime, token: token as string })).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
  });
});

it("requires no token only with token: false", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  await using closed = await serveMcpHttp({ tools: [], runtime });
  expect(await statusOf(closed.url, {})).toBe(401);
  await using open = await serveMcpHttp({ tools: [], runtime, token: false });
  expect(await statusOf(open.url, {})).toBe(200);
  expect(await statusOf(open.url, { Origin: "https://evil.example" })).toBe(403);
  await expect(serveMcpHttp({ tools: [], runtime, token: "" })).rejects.toThrow(/token/);
});

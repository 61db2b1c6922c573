/** The protocol without a client: lines of JSON, written and read by hand. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { MAIN } from "../cli/command.ts";
import { createServerFolder, ledgerOf } from "./harness.ts";

interface Line {
  readonly id?: number;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number };
}

function open(folder: string): {
  send(line: object | string): void;
  line(): Promise<Line>;
  ended: Promise<number | null>;
} {
  const child = spawn(process.execPath, [MAIN, "mcp"], { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (line: object | string): void =>
    void child.stdin.write(
      `${typeof line === "string" ? line : JSON.stringify({ jsonrpc: "2.0", ...line })}\n`,
    );
  return {
    send: (line) => (line === "" ? child.stdin.end() : send(line)),
    // Fails if stdout contains anything but the protocol.
    line: async () => JSON.parse((await lines.next()).value as string) as Line,
    ended: new Promise((resolve) => child.once("close", resolve)),
  };
}

it("writes only lines of JSON-RPC to stdout, survives invalid input, and ends with its client", async () => {
  const folder = createServerFolder();
  const server = open(folder);
  const clientInfo = { name: "by hand", version: "0" };
  server.send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
  });
  expect(await server.line()).toMatchObject({ id: 1, result: { protocolVersion: "2025-06-18" } });
  server.send({ method: "notifications/initialized" });
  server.send("this is not JSON");
  server.send('{"jsonrpc":"2.0","id":');
  server.send({ id: 2, method: "tools/call", params: { name: "add", arguments: { a: 2 } } });
  expect(await server.line()).toMatchObject({ id: 2, result: { structuredContent: { sum: 3 } } });
  server.send({ id: 3, method: "tools/call", params: { name: "nothing" } });
  expect(await server.line()).toMatchObject({ id: 3, error: { code: -32_602 } });
  const _meta = { "toolwright/idempotency-key": "by hand" };
  for (const id of [4, 5]) {
    server.send({
      id,
      method: "tools/call",
      params: { name: "place_blind", arguments: { sku: "fig" }, _meta },
    });
    expect(await server.line()).toMatchObject({
      id,
      result: { structuredContent: { sku: "fig", orders: 1 } },
    });
  }
  expect(ledgerOf(folder)).toEqual(["fig"]);
  server.send("");
  expect(await server.ended).toBe(0);
});

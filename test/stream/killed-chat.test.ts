/** `kill -9` of the chat server in the middle of an answer: the next process continues, and orders nothing twice. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { bundled } from "../started-programs.ts";
import { createFolder, createStorePath } from "../workflow/harness.ts";
import { createClient, messageOf, textOf, userMessage } from "./chat-server.ts";

const PROGRAM = bundled(join(import.meta.dirname, "programs/chat-server.ts"));

async function startServer(...given: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...given], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [api] = (await once(createInterface(child.stdout), "line")) as [string];
  const kill = async (): Promise<void> => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return { client: createClient(api), kill };
}

test.each(["GET", "POST"])(
  "after kill -9, a %s drives the turn again",
  { timeout: 120_000 },
  async (method) => {
    const store = createStorePath();
    const ledger = join(createFolder(), "orders.txt");
    const first = await startServer(store, ledger, "hang");
    const lost = (await first.client.send([userMessage("Order")])).getReader();
    for (let chunk = await lost.read(); chunk.value?.type !== "text-delta"; chunk = await lost.read());
    await first.kill();
    const second = await startServer(store, ledger, "answer");
    const stream =
      method === "GET" ? await second.client.reconnect() : await second.client.send([userMessage("Order")]);
    const message = await messageOf(stream);
    expect(textOf(message)).toBe("Hello");
    expect(message.parts.map(({ type }) => type)).toContain("tool-order");
    expect(readFileSync(ledger, "utf8").trim().split("\n")).toHaveLength(1);
    await second.kill();
  },
);

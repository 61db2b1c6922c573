/** `kill -9` of the chat server in the middle of an answer: the next process continues, and orders nothing twice. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { UIMessageChunk } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { bundled } from "../started-programs.ts";
import { createFolder, createStorePath, rowsOf } from "../workflow/harness.ts";
import { createClient, messageOf, textOf, userMessage } from "./chat-server.ts";

const PROGRAM = bundled(join(import.meta.dirname, "programs/chat-server.ts"));

async function startServer(...given: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...given], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [api] = (await once(createInterface(child.stdout), "line")) as [string];
  const kill = async (): Promise<void> => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return { client: createClient(api), child, kill };
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

/** Reads up to the first piece of text. The rest stays in the second branch of the stream. */
async function untilText(stream: ReadableStream<UIMessageChunk> | null) {
  if (stream === null) throw new Error("there is no stream");
  const [watched, rest] = stream.tee();
  const reader = watched.getReader();
  for (let chunk = await reader.read(); chunk.value?.type !== "text-delta"; chunk = await reader.read())
    expect(chunk.done).toBe(false);
  void reader.cancel();
  return rest;
}

test.each(["GET", "POST"])(
  "a %s that another process serves continues when the process that drives the turn is killed",
  { timeout: 120_000 },
  async (method) => {
    const store = createStorePath();
    const ledger = join(createFolder(), "orders.txt");
    const first = await startServer(store, ledger, "hang");
    const second = await startServer(store, ledger, "answer");
    await untilText(await first.client.send([userMessage("Order")]));
    const connect = () =>
      method === "GET" ? second.client.reconnect() : second.client.send([userMessage("Order")]);
    const streams = [await untilText(await connect()), await untilText(await connect())];
    await first.kill();
    const messages = await Promise.all(streams.map((stream) => messageOf(stream)));
    for (const message of messages) {
      expect(textOf(message)).toBe("Hello");
      expect(message.parts.map(({ type }) => type)).toContain("tool-order");
    }
    expect(readFileSync(ledger, "utf8").trim().split("\n")).toHaveLength(1);
    expect(await rowsOf(store, "SELECT state FROM toolwright_runs")).toEqual([{ state: "finished" }]);
    await second.kill();
  },
);

test(
  "a stream of another process ends if the driving process is killed right after it has stored the answer",
  { timeout: 120_000 },
  async () => {
    const store = createStorePath();
    const ledger = join(createFolder(), "orders.txt");
    const first = await startServer(store, ledger, "die");
    const second = await startServer(store, ledger, "answer");
    await untilText(await first.client.send([userMessage("Order")]));
    const stream = await untilText(await second.client.reconnect());
    const exited = once(first.child, "exit");
    first.child.stdin.write("go\n");
    await exited;
    expect(textOf(await messageOf(stream))).toBe("Hello");
    expect(readFileSync(ledger, "utf8").trim().split("\n")).toHaveLength(1);
    expect(await rowsOf(store, "SELECT state FROM toolwright_runs")).toEqual([{ state: "finished" }]);
    await second.kill();
  },
);

/** Event streams: a snapshot, then patches, including for what other processes commit. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { EventStreams } from "../../src/server/event-streams.ts";
import { sendWebResponse } from "../../src/http/node-http.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import {
  freshStore,
  openEvents,
  openRuntime,
  requestPayment,
  sendText,
  pay,
  startServer,
} from "./harness.ts";
import { quick } from "./programs/quick-tool.ts";
import { bundled } from "../started-programs.ts";

const CALLER = resolve(import.meta.dirname, "programs/caller.ts");

/** Another process, which makes one call per line that it reads, and prints a line after each commit. */
function startCaller(store: string) {
  const child = spawn(process.execPath, [bundled(CALLER), store], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdout.setEncoding("utf8");
  return {
    call: async (runId: string): Promise<void> => {
      child.stdin.write(`${runId}\n`);
      await once(child.stdout, "data");
    },
  };
}

describe.each(STORE_KINDS)("on $name", (kind) => {
  test("a change that another process commits arrives in the list and in the run", async () => {
    const store = await freshStore(kind);
    const server = await startServer({ store });
    const caller = startCaller(store);
    await caller.call("run-1");
    const list = await openEvents(server);
    const run = await openEvents(server, "?run=run-1");
    expect(await list.next()).toMatchObject({
      name: "snapshot",
      data: { runs: [{ runId: "run-1" }], next: null },
    });
    expect(await run.next()).toMatchObject({ name: "snapshot", data: { runId: "run-1", calls: 1 } });
    for (let calls = 2; calls <= 6; calls += 1) {
      await caller.call("run-1");
      const inList = await list.until(({ name, data }) => name === "patch" && holds(data, calls));
      expect(inList.data).toMatchObject({ removed: [] });
      const inRun = await run.until(({ name, data }) => name === "patch" && data["calls"] === calls);
      expect(inRun.data).toMatchObject({ runId: "run-1", status: "finished" });
    }
  });
});

function holds(data: Readonly<Record<string, unknown>>, calls: number): boolean {
  return (data["runs"] as { calls: number }[]).some((run) => run.calls === calls);
}

test("each connection begins with a snapshot of the current state", async () => {
  const store = await freshStore();
  const server = await startServer({ store });
  const runtime = openRuntime(store);
  const first = await openEvents(server);
  expect(await first.next()).toEqual({ name: "snapshot", data: { runs: [], next: null } });
  first.close();
  await requestPayment(runtime, "r");
  const second = await openEvents(server);
  expect(await second.next()).toMatchObject({ name: "snapshot", data: { runs: [{ runId: "r" }] } });
});

test("two streams of one run see the same events", async () => {
  const store = await freshStore();
  const server = await startServer({ store });
  const runtime = openRuntime(store);
  const { id } = await requestPayment(runtime, "r");
  const streams = [await openEvents(server, "?run=r"), await openEvents(server, "?run=r")];
  for (const stream of streams)
    expect(await stream.next()).toMatchObject({ name: "snapshot", data: { approvals: [{ id }] } });
  await runtime.resolveToolApproval(id, { approved: false });
  for (const stream of streams) {
    const patch = await stream.until(({ data }) => JSON.stringify(data["approvals"]) === "[]");
    expect(patch).toMatchObject({ name: "patch", data: { runId: "r" } });
  }
});

test("a filtered list streams only what fits the filter", async () => {
  const store = await freshStore();
  const server = await startServer({ store });
  const runtime = openRuntime(store);
  const { id } = await requestPayment(runtime, "r");
  const waiting = await openEvents(server, "?status=waiting-approval");
  expect(await waiting.next()).toMatchObject({ name: "snapshot", data: { runs: [{ runId: "r" }] } });
  await runtime.resolveToolApproval(id, { approved: false });
  await runtime.call(pay, { euros: 5, to: "Ada" }, { runId: "r" });
  await waiting.until(({ data }) => JSON.stringify(data["removed"]) === '["r"]');
});

test("a run that retention deletes while it is watched ends its stream with the reason", async () => {
  const store = await freshStore();
  const server = await startServer({ store });
  const runtime = openRuntime(store);
  await runtime.run({ runId: "r" }, () => undefined);
  await runtime.call(quick, { n: 1 }, { runId: "r" });
  const stream = await openEvents(server, "?run=r");
  await stream.next();
  await expect.poll(async () => (await runtime.gc({ olderThanMs: 0 })).deletedRuns).toBeGreaterThan(0);
  const problem = await stream.until(({ name }) => name === "problem");
  expect(problem.data).toMatchObject({
    error: { code: expect.stringMatching(/^TOOL_RUN_(DELETED|NOT_FOUND)$/) },
  });
  await expect(stream.next()).rejects.toThrow("ended");
});

test("a client that stops reading is dropped, and others get every event", async () => {
  const streams = new EventStreams({
    version: () => Promise.resolve(String(performance.now())),
    stallMs: 300,
  });
  let count = 0;
  const topic = {
    key: "big",
    read: () => Promise.resolve({ count: (count += 1), text: "x".repeat(200_000) }),
    diff: (_: unknown, after: object) => after,
  };
  const server = createServer((_, response) => {
    void streams
      .open(topic)
      .then((answer) => sendWebResponse(answer, response).catch(() => response.destroy()));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  onTestFinished(async () => {
    await streams.close();
    server.closeAllConnections();
    server.close();
  });
  const slow = sendText(address, "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  await once(slow.socket, "data");
  slow.socket.pause();
  const connections = (): Promise<number> =>
    new Promise((done) => server.getConnections((_, open) => done(open)));
  const reader = await openEvents(address);
  expect(await connections()).toBe(2);
  let last = 0;
  while ((await connections()) > 1) {
    const { data } = await reader.next();
    expect(data["count"]).toBeGreaterThan(last);
    last = Number(data["count"]);
  }
  expect((await reader.next()).name).toBe("patch");
});

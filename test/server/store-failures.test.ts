/** A store that is damaged, newer, or gone: clear errors, and the server keeps serving. */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { freshPostgresSchema } from "../postgres/fresh-postgres.ts";
import { ask, errorOf, freshStore, openEvents, openRuntime, requestPayment, startServer } from "./harness.ts";
import { quick } from "./programs/quick-tool.ts";

test("a damaged store: 503 with the reason, even after many requests; it works once it is repaired", async () => {
  const store = await freshStore();
  writeFileSync(
    store,
    "this is not a database, but long enough to look like a file of some kind".repeat(100),
  );
  const server = await startServer({ store });
  for (let round = 0; round < 3; round += 1) {
    const answer = await ask(server, "/runs");
    expect(answer.status).toBe(503);
    expect(errorOf(answer).code).toBe("TOOL_STORE_DAMAGED");
  }
  expect((await ask(server, "/healthz", { token: null })).body).toEqual({
    status: "ok",
    store: "unavailable",
  });
  expect((await ask(server, "/openapi.json")).status).toBe(200);
  expect((await ask(server, "/events")).status).toBe(503);
  rmSync(store);
  await requestPayment(openRuntime(store), "r");
  expect((await ask(server, "/runs")).status).toBe(200);
});

test("a store of a newer version: 503, and nothing in it is changed", async () => {
  const store = await freshStore();
  const runtime = openRuntime(store);
  await requestPayment(runtime, "r");
  await runtime.close();
  const database = new DatabaseSync(store);
  database.exec("UPDATE toolwright_meta SET value = '9999' WHERE name = 'version'");
  database.close();
  const server = await startServer({ store });
  const answer = await ask(server, "/runs");
  expect(answer.status).toBe(503);
  expect(errorOf(answer).code).toBe("TOOL_STORE_VERSION");
});

test("a store that disappears: 503 in answers and streams; a new snapshot when it is back", async () => {
  const store = await freshStore();
  const runtime = openRuntime(store);
  await requestPayment(runtime, "r");
  await runtime.close();
  const server = await startServer({ store });
  const stream = await openEvents(server);
  expect(await stream.next()).toMatchObject({ name: "snapshot", data: { runs: [{ runId: "r" }] } });
  for (const end of ["", "-wal", "-shm"])
    if (existsSync(store + end)) renameSync(store + end, `${store}${end}.away`);
  const problem = await stream.until(({ name }) => name === "problem");
  expect(problem.data).toMatchObject({ error: { code: "TOOL_STORE_FAILED" } });
  for (let round = 0; round < 2; round += 1) {
    const answer = await ask(server, "/runs");
    expect(answer.status).toBe(503);
    expect(errorOf(answer).code).toBe("TOOL_STORE_FAILED");
    expect(errorOf(answer).hint).not.toBe("");
  }
  expect(existsSync(store)).toBe(false);
  for (const end of ["", "-wal", "-shm"])
    if (existsSync(`${store}${end}.away`)) renameSync(`${store}${end}.away`, store + end);
  expect(await stream.until(({ name }) => name === "snapshot")).toMatchObject({
    data: { runs: [{ runId: "r" }] },
  });
  expect((await ask(server, "/runs")).status).toBe(200);
});

test("the database of another program: 503, and nothing in it is changed", async () => {
  const store = await freshStore();
  const database = new DatabaseSync(store);
  database.exec("CREATE TABLE customers (name TEXT)");
  const server = await startServer({ store });
  const answer = await ask(server, "/runs");
  expect(answer.status).toBe(503);
  expect(errorOf(answer).message).toContain("another program");
  expect(database.prepare("SELECT name FROM sqlite_master").all()).toEqual([{ name: "customers" }]);
  database.close();
});

test("a read-only server does not create a store, and finds it once it is there", async () => {
  const store = await freshStore();
  const server = await startServer({ store, readOnly: true });
  const answer = await ask(server, "/runs");
  expect(answer.status).toBe(503);
  expect(errorOf(answer).message).toContain("There is no store");
  expect(existsSync(store)).toBe(false);
  await requestPayment(openRuntime(store), "r");
  expect((await ask(server, "/runs")).body).toMatchObject({ runs: [{ runId: "r" }] });
});

test("a run that was deleted by retention: 404 that says so", async () => {
  const store = await freshStore();
  const server = await startServer({ store });
  const runtime = openRuntime(store);
  await runtime.call(quick, { n: 1 }, { runId: "old" });
  expect((await ask(server, "/runs/old")).status).toBe(200);
  await expect.poll(async () => (await runtime.gc({ olderThanMs: 0 })).deletedRuns).toBe(1);
  for (const path of ["/runs/old", "/runs/old/why", "/runs/old/calls", "/events?run=old"]) {
    const answer = await ask(server, path);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(errorOf(answer).code).toBe("TOOL_RUN_DELETED");
  }
});

test("while the database is unavailable, reads return 503 in time; they work again when it is back", async () => {
  const proxy = await openSwitch(await freshPostgresSchema());
  const server = await startServer({ store: proxy.address });
  expect((await ask(server, "/runs")).status).toBe(200);
  await proxy.off();
  const answer = await ask(server, "/runs");
  expect(answer.status).toBe(503);
  expect(errorOf(answer).code).toBe("TOOL_STORE_FAILED");
  expect((await ask(server, "/healthz", { token: null })).body).toEqual({
    status: "ok",
    store: "unavailable",
  });
  await proxy.on();
  await expect.poll(async () => (await ask(server, "/runs")).status).toBe(200);
});

/** The same database behind a port that can be closed. */
async function openSwitch(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("close", () => other.destroy());
      socket.on("error", () => other.destroy());
      socket.pipe(other);
    }
  });
  const listen = (at: number): Promise<void> => new Promise((done) => proxy.listen(at, "127.0.0.1", done));
  const off = async (): Promise<void> => {
    const closed = new Promise((done) => proxy.close(done));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const own = (proxy.address() as AddressInfo).port;
  onTestFinished(off);
  const address = new URL(target);
  address.port = String(own);
  return { address: address.href, off, on: () => listen(own) };
}

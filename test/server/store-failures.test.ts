/** A store that is damaged, newer, or gone: clear errors, and the server keeps serving. */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { ask, errorOf, freshStore, openEvents, openRuntime, requestPayment, startServer } from "./harness.ts";
import { quick } from "./programs/quick-tool.ts";

test("a damaged store: 503 with the reason, also after many requests; it works once it is repaired", async () => {
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
  await expect
    .poll(async () => (await runtime.gc({ olderThanMs: 0 })).deletedRuns, { timeout: 10_000 })
    .toBe(1);
  for (const path of ["/runs/old", "/runs/old/why", "/runs/old/calls", "/events?run=old"]) {
    const answer = await ask(server, path);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(errorOf(answer).code).toBe("TOOL_RUN_DELETED");
  }
});

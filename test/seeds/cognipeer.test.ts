/** The samples from Cognipeer's page on createTool, with the package name changed. */
import { createTool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createEagerClock } from "../semantics/eager-clock.ts";
import { createWorld } from "../semantics/harness.ts";
import {
  createSearch,
  fetchPage,
  fetchPageAdvanced,
  searchDocs,
  servePages,
  writeFile,
} from "./cognipeer-samples.ts";

const task = { runId: "invoke-1" };

it("createTool: search_docs", async () => {
  const world = await createWorld();
  expect(await searchDocs.invoke({ query: "a" })).toEqual({ hits: ["result for a"] });
  expect(await (await world.runtime()).call(searchDocs, { query: "a" }, task)).toMatchObject({
    output: { hits: ["result for a"] },
  });
  await expect(searchDocs.func({ query: "" })).rejects.toMatchObject({ code: "TOOL_INPUT_INVALID" });
});

it("approval-gated: dangerous_write", async () => {
  const world = await createWorld();
  const args = { path: "a.txt", content: "hello" };
  const runtime = await world.runtime();
  const pending = await runtime.call(writeFile, args, task);
  expect(pending).toMatchObject({
    status: "pending",
    approval: { prompt: "Confirm the write is safe.", args },
  });
  if (pending.status !== "pending") throw new Error(pending.status);
  await runtime.resolveToolApproval(pending.approval.id, { approved: true, decidedBy: "ann" });
  expect(await (await world.runtime()).call(writeFile, args, task)).toMatchObject({
    status: "success",
    output: { ok: true, path: "a.txt", bytesWritten: 5 },
  });
});

it("idempotent tool caching: fetch_page, and the advanced form", async () => {
  const world = await createWorld();
  const { url, requests } = await servePages();
  const clock = createEagerClock();
  const runtime = await world.runtime({ clock });
  await runtime.call(fetchPage, { url }, task);
  expect(await runtime.call(fetchPage, { url }, task)).toMatchObject({ output: "page 1", fromCache: true });
  await runtime.call(fetchPageAdvanced, { url, reason: "one" }, task);
  expect(await runtime.call(fetchPageAdvanced, { url, reason: "two" }, task)).toMatchObject({
    output: "page 2",
    fromCache: true,
  });
  await clock.sleep(30_000);
  expect(await runtime.call(fetchPageAdvanced, { url, reason: "three" }, task)).toMatchObject({
    output: "page 3",
    fromCache: false,
  });
  expect(requests).toHaveLength(3);
});

it("retry and circuit breaker: search", async () => {
  const world = await createWorld();
  const clock = createEagerClock();
  const { search, asked } = createSearch();
  const runtime = await world.runtime({ clock });
  await runtime.call(search, { q: "down" }, task);
  expect(asked).toHaveLength(4);
  expect(clock.sleeps.map((ms) => 500 * 2 ** Math.floor(Math.log2(ms / 500)))).toEqual([500, 1000, 2000]);
  for (let failure = 2; failure <= 5; failure += 1) {
    expect(await runtime.call(search, { q: `UNAUTHORIZED ${failure}` }, task)).toMatchObject({
      error: { code: "TOOL_EXECUTION_FAILED" },
    });
  }
  expect(asked).toHaveLength(8);
  expect(await runtime.call(search, { q: "again" }, task)).toMatchObject({
    error: { code: "TOOL_CIRCUIT_OPEN" },
  });
  expect(asked).toHaveLength(8);
});

it("maxExecutionsPerRun: one tool is not called indefinitely", async () => {
  const world = await createWorld();
  const limited = createTool({
    name: "limited",
    schema: z.object({ n: z.number() }),
    maxExecutionsPerRun: 2,
    func: async ({ n }) => n,
  });
  const runtime = await world.runtime();
  const outcomes = await Promise.all([1, 2, 3, 4].map((n) => runtime.call(limited, { n }, task)));
  expect(outcomes.filter(({ status }) => status === "success")).toHaveLength(2);
});

/** The samples of the Cognipeer page about createTool, with the package name changed. */
import { createServer } from "node:http";
import { createTool } from "toolwright";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createEagerClock } from "../semantics/eager-clock.ts";
import { createWorld } from "../semantics/harness.ts";

const task = { runId: "invoke-1" };

it("createTool: search_docs", async () => {
  const world = await createWorld();
  const search = createTool({
    name: "search_docs",
    description: "Search the docs index",
    schema: z.object({ query: z.string().min(1) }),
    func: async ({ query }) => ({ hits: [`result for ${query}`] }),
  });
  expect(await search.invoke({ query: "a" })).toEqual({ hits: ["result for a"] });
  expect(await (await world.runtime()).call(search, { query: "a" }, task)).toMatchObject({
    output: { hits: ["result for a"] },
  });
  await expect(search.func({ query: "" })).rejects.toMatchObject({ code: "TOOL_INPUT_INVALID" });
});

it("approval-gated: dangerous_write", async () => {
  const world = await createWorld();
  const writeFile = createTool({
    name: "dangerous_write",
    description: "Write content to disk",
    schema: z.object({ path: z.string(), content: z.string() }),
    needsApproval: true,
    approvalPrompt: "Confirm the write is safe.",
    func: async ({ path, content }) => ({ ok: true, path, bytesWritten: content.length }),
  });
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
  let requests = 0;
  const server = createServer((_request, response) => response.end(`page ${(requests += 1)}`));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
  const clock = createEagerClock();

  const fetchPage = createTool({
    name: "fetch_page",
    description: "Fetch a static page",
    schema: z.object({ url: z.string().url() }),
    func: async ({ url }) => fetch(url).then((r) => r.text()),
    cache: true, // identical { url } within the same invoke replays the result
  });
  const advanced = createTool({
    name: "fetch_page_advanced",
    schema: z.object({ url: z.string().url(), reason: z.string() }),
    func: async ({ url }) => fetch(url).then((r) => r.text()),
    cache: {
      keyFn: (args) => args.url, // canonicalize cache key
      ttlMs: 30_000, // expire cached entries after 30s
    },
  });

  const runtime = await world.runtime({ clock });
  await runtime.call(fetchPage, { url }, task);
  expect(await runtime.call(fetchPage, { url }, task)).toMatchObject({ output: "page 1", fromCache: true });
  await runtime.call(advanced, { url, reason: "one" }, task);
  expect(await runtime.call(advanced, { url, reason: "two" }, task)).toMatchObject({
    output: "page 2",
    fromCache: true,
  });
  await clock.sleep(30_000);
  expect(await runtime.call(advanced, { url, reason: "three" }, task)).toMatchObject({
    output: "page 3",
    fromCache: false,
  });
  expect(requests).toBe(3);
});

it("retry and circuit breaker: search", async () => {
  const world = await createWorld();
  const clock = createEagerClock();
  let asked = 0;
  const searchClient = {
    query: async (q: string): Promise<string> => {
      asked += 1;
      throw new Error(q);
    },
  };
  const search = createTool({
    name: "search",
    description: "External search API",
    schema: z.object({ q: z.string() }),
    func: async ({ q }) => searchClient.query(q),
    retry: {
      maxRetries: 3,
      backoffMs: 500, // doubles each attempt (500, 1000, 2000, ...)
      // oxlint-disable-next-line typescript/no-unnecessary-template-expression -- as the page has it
      shouldRetry: (err) => !`${err?.message}`.includes("UNAUTHORIZED"),
      circuitBreakerThreshold: 5, // open the breaker after 5 consecutive failures
    },
  });
  const runtime = await world.runtime({ clock });
  await runtime.call(search, { q: "down" }, task);
  expect(asked).toBe(4);
  expect(clock.sleeps.map((ms) => 500 * 2 ** Math.floor(Math.log2(ms / 500)))).toEqual([500, 1000, 2000]);
  for (let failure = 2; failure <= 5; failure += 1) {
    expect(await runtime.call(search, { q: `UNAUTHORIZED ${failure}` }, task)).toMatchObject({
      error: { code: "TOOL_EXECUTION_FAILED" },
    });
  }
  expect(asked).toBe(8);
  expect(await runtime.call(search, { q: "again" }, task)).toMatchObject({
    error: { code: "TOOL_CIRCUIT_OPEN" },
  });
  expect(asked).toBe(8);
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

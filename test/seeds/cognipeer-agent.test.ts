/** The samples from Cognipeer's page on the smart agent, with the package name changed. */
import { createSmartAgent } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { expect, it } from "vitest";
import { z } from "zod";
import { createEagerClock } from "../semantics/eager-clock.ts";
import { createWorld } from "../semantics/harness.ts";
import { createSearch, fetchPage, searchDocs, servePages, writeFile } from "./cognipeer-samples.ts";

const user = { role: "user" as const, content: "Go." };

it("createTool: search_docs", async () => {
  const world = await createWorld();
  const model = createScriptedModel([[{ toolName: "search_docs", input: { query: "a" } }], "Found."]);
  const agent = createSmartAgent({ model, tools: [searchDocs], runtime: await world.runtime() });
  const { content, state } = await agent.invoke({ messages: [user] });
  expect(content).toBe("Found.");
  expect(state.toolHistory).toMatchObject([{ toolName: "search_docs", output: { hits: ["result for a"] } }]);
});

it("approval-gated: the runtime pauses, records a pending approval, and resumes after resolveToolApproval", async () => {
  const world = await createWorld();
  const args = { path: "a.txt", content: "hello" };
  const model = createScriptedModel([[{ toolName: "dangerous_write", input: args }], "Written."]);
  const agent = createSmartAgent({ model, tools: [writeFile], runtime: await world.runtime() });
  const paused = await agent.invoke({ messages: [user] });
  expect(paused.state.pendingApprovals).toMatchObject([
    { toolName: "dangerous_write", args, status: "pending", prompt: "Confirm the write is safe." },
  ]);
  const next = agent.resolveToolApproval(paused.state, {
    id: paused.state.pendingApprovals[0]?.id ?? "",
    approved: true,
    decidedBy: "ann",
  });
  const done = await agent.invoke(next);
  expect(done.content).toBe("Written.");
  expect(done.state.toolHistory).toMatchObject([
    { status: "success", output: { ok: true, bytesWritten: 5 } },
  ]);
});

it("idempotent tool caching: identical args inside the same invoke skip re-execution", async () => {
  const world = await createWorld();
  const { url, requests } = await servePages();
  const turn = [{ toolName: "fetch_page", input: { url } }];
  const model = createScriptedModel([turn, turn, "Read."]);
  const agent = createSmartAgent({ model, tools: [fetchPage], runtime: await world.runtime() });
  const { state } = await agent.invoke({ messages: [user] });
  expect(requests).toHaveLength(1);
  expect(state.toolHistory.map(({ output, fromCache }) => [output, fromCache])).toEqual([
    ["page 1", false],
    ["page 1", true],
  ]);
  expect(Object.values(state.toolCache)).toEqual([{ toolName: "fetch_page", output: "page 1" }]);
});

it("retry and circuit breaker: once the breaker opens, calls short-circuit within the same invoke", async () => {
  const world = await createWorld();
  const clock = createEagerClock();
  const { search, asked } = createSearch();
  const failing = (q: string) => [{ toolName: "search", input: { q } }];
  const model = createScriptedModel([
    failing("down"),
    ...[2, 3, 4, 5].map((failure) => failing(`UNAUTHORIZED ${failure}`)),
    failing("again"),
    ({ toolResults }) => JSON.stringify(toolResults[0]?.output),
  ]);
  const agent = createSmartAgent({ model, tools: [search], runtime: await world.runtime({ clock }) });
  const { content } = await agent.invoke({ messages: [user] });
  expect(asked).toHaveLength(8);
  expect(content).toContain("circuit_open");
});

it("non-SDK tools: objects that expose invoke, call, run or func", async () => {
  const world = await createWorld();
  const schema = z.object({ x: z.number() });
  const tools = ["invoke", "call", "run", "func"].map((method) => ({
    name: `by_${method}`,
    description: method,
    schema,
    [method]: async ({ x }: { x: number }) => x + 1,
  }));
  const turn = tools.map(({ name }) => ({ toolName: name, input: { x: 1 } }));
  const model = createScriptedModel([turn, "Done."]);
  const agent = createSmartAgent({ model, tools, runtime: await world.runtime() });
  const { state } = await agent.invoke({ messages: [user] });
  expect(state.toolHistory.map(({ output }) => output)).toEqual([2, 2, 2, 2]);
});

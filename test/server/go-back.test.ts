/** Forks and reverts over HTTP. Effects are counted outside. */
import { createWorkflows, defineTool, runWorkflow, type WorkflowDefinition } from "toolwright";
import { expect, test } from "vitest";
import { z } from "zod";
import { jsx } from "../../src/jsx-runtime.ts";
import { ask, errorOf, freshStore, openRuntime, READER, startServer } from "./harness.ts";

const ledger: string[] = [];
const book = defineTool({
  name: "http_book",
  schema: z.object({ what: z.string() }),
  sideEffect: true,
  idempotent: false,
  acceptsIdempotencyKey: false,
  execute: async ({ what }) => void ledger.push(`book ${what}`),
  revert: async ({ what }) => void ledger.push(`cancel ${what}`),
});
const { Workflow, Task, workflow } = createWorkflows({ output: z.object({}) });
const task = (id: string) => jsx(Task, { id, children: async () => book.execute({ what: id }) });
const trip = workflow(() =>
  jsx(Workflow, { name: "trip", children: [task("hotel"), task("flight")] }),
) as WorkflowDefinition;

test("a run is forked and reverted over HTTP, each with a dry run first", async () => {
  ledger.length = 0;
  const store = await freshStore();
  const runtime = openRuntime(store);
  await runWorkflow(trip, { runtime, runId: "t1" });
  const server = await startServer({ store, workflows: { trip } });
  const shown = await ask(server, "/runs/t1/fork", { body: { at: "flight", dryRun: true } });
  expect(shown).toMatchObject({ status: 202, body: { dryRun: true, rerun: ["flight"], command: null } });
  const forked = await ask(server, "/runs/t1/fork", { body: { at: "flight", effects: "run" } });
  const fork = forked.body as { runId: string; message: string };
  expect(forked).toMatchObject({ status: 202, body: { parentId: "t1", copied: { tasks: 1, calls: 1 } } });
  // No worker is there, and a program started the run: the answer says so.
  expect(fork.message).not.toBe("");
  expect(await ask(server, `/runs/${fork.runId}`)).toMatchObject({
    body: { status: "queued", lineage: { parent: "t1", fork: { at: "flight" } } },
  });
  const preview = await ask(server, "/runs/t1/revert", { body: { dryRun: true } });
  expect(preview).toMatchObject({
    status: 202,
    body: { dryRun: true, reverted: [{ nodeId: "flight" }, {}] },
  });
  expect(ledger).toEqual(["book hotel", "book flight"]);
  expect(await ask(server, "/runs/t1/revert", { body: {} })).toMatchObject({
    status: 202,
    body: { reverted: [{ tool: "http_book" }, {}], left: [], failed: [], pending: [] },
  });
  expect(ledger.slice(2)).toEqual(["cancel flight", "cancel hotel"]);
  expect(errorOf(await ask(server, "/runs/t1/resume", { body: {} }))).toMatchObject({
    code: "TOOL_RUN_REVERTED",
  });
});

test("bad requests are refused with a hint", async () => {
  const store = await freshStore();
  const runtime = openRuntime(store);
  await runWorkflow(trip, { runtime, runId: "t1" });
  const server = await startServer({ store, workflows: { trip } });
  const status = async (path: string, body: object, token?: string) => {
    const answer = await ask(server, path, { body, ...(token === undefined ? {} : { token }) });
    return [answer.status, errorOf(answer).code];
  };
  expect(await status("/runs/t1/fork", {})).toEqual([422, "TOOL_FORK_INVALID"]);
  expect(await status("/runs/t1/fork", { at: "nowhere" })).toEqual([422, "TOOL_FORK_INVALID"]);
  expect(await status("/runs/t1/fork", { effects: "maybe" })).toEqual([422, "HTTP_BODY_INVALID"]);
  expect(await status("/runs/t1/revert", { from: "nowhere" })).toEqual([422, "TOOL_OPTION_INVALID"]);
  expect(await status("/runs/none/revert", {})).toEqual([404, "TOOL_RUN_NOT_FOUND"]);
  expect(await status("/runs/t1/revert", {}, READER)).toEqual([403, "HTTP_FORBIDDEN"]);
});

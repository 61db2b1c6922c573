/** Functions of a tool other than `execute` that never settle: the call still ends, and fails closed. */
import { defineTool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never } from "./harness.ts";
import { createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

it("a needsApproval that does not settle within the timeout means yes", async () => {
  const runtime = await (await createWorld()).runtime();
  const { charge, effects } = createCharge({ timeoutMs: 20, needsApproval: () => never<boolean>() });
  expect(await runtime.call(charge, args, task)).toMatchObject({ status: "pending" });
  expect(effects).toEqual([]);
});

it("an approvalPrompt that does not settle within the timeout is omitted", async () => {
  const runtime = await (await createWorld()).runtime();
  const approvalPrompt = () => never<string>();
  const { charge } = createCharge({ timeoutMs: 20, needsApproval: true, approvalPrompt });
  expect(await runtime.call(charge, args, task)).toMatchObject({
    status: "pending",
    approval: { prompt: expect.stringContaining("May") },
  });
});

it("a shouldRetry that does not settle within the timeout means no", async () => {
  const runtime = await (await createWorld()).runtime();
  const retry = { maxRetries: 1, backoffMs: 0, shouldRetry: () => never<boolean>() };
  const { charge, effects } = createCharge({ timeoutMs: 20, retry }, () => {
    throw harmless("not now");
  });
  expect(await runtime.call(charge, args, task)).toMatchObject({ error: { message: "not now" } });
  expect(effects).toHaveLength(1);
});

it("an abort ends the wait for needsApproval, and no approval is requested", async () => {
  const runtime = await (await createWorld()).runtime();
  const abort = new AbortController();
  const needsApproval = () => {
    abort.abort();
    return never<boolean>();
  };
  const { charge, effects } = createCharge({ needsApproval });
  expect(await runtime.call(charge, args, { ...task, signal: abort.signal })).toMatchObject({
    error: { code: "TOOL_ABORTED" },
  });
  expect(await runtime.approvals()).toEqual([]);
  expect(effects).toEqual([]);
});

/** A schema whose check does not settle, and a promise that resolves when it has begun. */
function endlessSchema() {
  const begun = Promise.withResolvers<void>();
  const schema = z.number().refine(() => {
    begun.resolve();
    return never<boolean>();
  });
  return { schema, begun: begun.promise };
}

it("a schema that does not settle within the timeout refuses the input", async () => {
  const runtime = await (await createWorld()).runtime();
  const { schema } = endlessSchema();
  const runs: number[] = [];
  const tool = defineTool({
    name: "checked",
    schema: z.object({ amount: schema }),
    timeoutMs: 20,
    execute: ({ amount }) => runs.push(amount),
  });
  expect(await runtime.call(tool, args, task)).toMatchObject({
    error: { code: "TOOL_INPUT_INVALID", message: expect.stringContaining("timed out"), effect: "none" },
  });
  expect(runs).toEqual([]);
});

it("an abort ends the wait for a schema, and leaves no outcome", async () => {
  const world = await createWorld();
  const runtime = await world.runtime();
  const { schema, begun } = endlessSchema();
  const tool = defineTool({ name: "checked", schema: z.object({ amount: schema }), execute: () => 1 });
  const abort = new AbortController();
  const call = runtime.call(tool, args, { ...task, signal: abort.signal });
  await begun;
  abort.abort();
  expect(await call).toMatchObject({ error: { code: "TOOL_ABORTED" } });
  expect(await world.log("r1")).toEqual([]);
});

it("an output schema that does not settle within the timeout is an invalid output: the effect happened", async () => {
  const world = await createWorld();
  const { schema, begun } = endlessSchema();
  let runs = 0;
  const make = (outputSchema: z.ZodType<number>) =>
    defineTool({
      name: "checked",
      schema: z.object({}),
      outputSchema,
      sideEffect: true,
      idempotent: false,
      acceptsIdempotencyKey: false,
      timeoutMs: 20,
      execute: () => (runs += 1),
    });
  const abort = new AbortController();
  const call = (await world.runtime()).call(make(schema), {}, { ...task, signal: abort.signal });
  await begun;
  abort.abort();
  await call;
  const runtime = await world.runtime();
  expect(await runtime.call(make(z.number()), {}, { ...task, attempt: 2 })).toMatchObject({
    status: "success",
    output: 1,
  });
  expect(runs).toBe(1);
});

it("a cache.keyFn that does not settle within the timeout fails the call, and an abort ends the wait", async () => {
  const runtime = await (await createWorld()).runtime();
  const abort = new AbortController();
  const make = (timeoutMs: number, onKey: () => void) =>
    defineTool({
      name: "looked_up",
      schema: z.object({}),
      timeoutMs,
      cache: { keyFn: () => (onKey(), never<string>()) },
      execute: () => 1,
    });
  expect(
    await runtime.call(
      make(20, () => undefined),
      {},
      task,
    ),
  ).toMatchObject({
    error: { code: "TOOL_EXECUTION_FAILED", message: expect.stringContaining("timed out"), effect: "none" },
  });
  const cut = runtime.call(
    make(60_000, () => abort.abort()),
    {},
    { ...task, signal: abort.signal },
  );
  expect(await cut).toMatchObject({ error: { code: "TOOL_ABORTED" } });
});

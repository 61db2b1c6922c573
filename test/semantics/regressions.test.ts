/** Regression tests for bugs that a review found. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineTool, type RuntimeEvent, ToolwrightError } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, watchStore, isFinish } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };

/** A store that fails the next commit of an outcome, once. */
async function failingOnce(world: Awaited<ReturnType<typeof createWorld>>) {
  let fails = true;
  return watchStore(await world.open(), {
    onCommit(statements) {
      if (!fails || !statements.some(isFinish)) return;
      fails = false;
      throw new ToolwrightError("TOOL_STORE_FAILED", "the disk is full");
    },
  });
}

it("retries in the same runtime after an outcome could not be committed", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge();
  await using runtime = createRuntime({ store: await failingOnce(world) });
  const once = { ...task, callKey: "once" };
  await expect(runtime.call(charge, { amount: 1 }, once)).rejects.toMatchObject({
    code: "TOOL_STORE_FAILED",
  });
  const again = await runtime.call(charge, { amount: 1 }, once);
  expect(again).toMatchObject({ status: "success" });
  expect(new Set(effects.map(({ key }) => key)).size).toBe(1);
});

it("does not claim that nothing happened when the outcome could not be committed", async () => {
  const world = await createWorld();
  const { charge } = createCharge();
  await using runtime = createRuntime({ store: await failingOnce(world) });
  const error: unknown = await runtime.call(charge, { amount: 1 }, task).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "TOOL_STORE_FAILED", effect: undefined });
});

it("leaves no timer behind that keeps a program running", () => {
  const program = `
    import { createRuntime, defineTool } from "./src/index.ts";
    import { z } from "zod";
    const order = defineTool({ name: "order", schema: z.object({}), sideEffect: true, idempotent: false,
      idempotencyKey: () => "one", execute: (args, ctx) => new Promise((done) => setTimeout(done, 20, ctx.idempotencyKey)) });
    const runtime = createRuntime({ store: ":memory:" });
    await Promise.all([runtime.call(order, {}, { runId: "a" }), runtime.call(order, {}, { runId: "b" })]);
    await runtime[Symbol.asyncDispose]();
  `;
  execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: new URL("../..", import.meta.url),
    timeout: 20_000,
  });
});

it("treats a shared error object that a tool throws repeatedly as the tool's own error each time", async () => {
  const world = await createWorld();
  const BUSY = Object.freeze(new ToolwrightError("TOOL_EXECUTION_FAILED", "busy", { effect: "none" }));
  const tool = defineTool({
    name: "busy",
    schema: z.object({ n: z.number() }),
    sideEffect: true,
    idempotent: false,
    execute: (_args, ctx) => {
      throw ctx.idempotencyKey === "" ? new Error() : BUSY;
    },
  });
  const runtime = await world.runtime();
  for (const n of [1, 2]) await runtime.call(tool, { n }, task);
  expect((await world.log("r1")).map((row) => row["effect"])).toEqual(["none", "none"]);
});

it("reports redacted arguments that cannot be serialized, and the run continues", async () => {
  const world = await createWorld();
  const tool = defineTool({
    name: "login",
    schema: z.object({ password: z.unknown() }),
    redact: { input: ["password"] },
    execute: () => "in",
  });
  const runtime = await world.runtime();
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  let deep: unknown = "x";
  for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
  for (const password of [circular, deep, () => 1]) {
    expect(await runtime.call(tool, { password }, task)).toMatchObject({
      error: { code: "TOOL_INPUT_INVALID" },
    });
  }
  expect(await runtime.call(tool, { password: "x" }, task)).toMatchObject({ output: "in" });
});

it("redacts arguments in what a tool logs, reports and throws, even in parsed form", async () => {
  const world = await createWorld();
  const tool = defineTool({
    name: "login",
    schema: z.object({ password: z.string().trim().toLowerCase() }),
    redact: { input: ["password"] },
    execute: ({ password }, ctx) => {
      ctx.log.info(`with ${password}`, { password });
      ctx.progress(`still ${password}`, { password });
      throw new Error(`refused ${password}`);
    },
  });
  const runtime = await world.runtime();
  const events: RuntimeEvent[] = [];
  runtime.subscribe((event) => events.push(event));
  const outcome = await runtime.call(tool, { password: " HUNTER22 " }, task);
  const text = [
    JSON.stringify(events),
    await world.dump(),
    outcome.status === "error" ? outcome.error.message : "",
  ];
  expect(text.join("\n").toLowerCase()).not.toContain("hunter22");
  expect(events.map(({ type }) => type)).toEqual([
    "call-started",
    "call-logged",
    "call-progress",
    "call-finished",
  ]);
});

it("finds the complete output of the latest attempt", async () => {
  const world = await createWorld();
  const outputs = ["long ".repeat(100), "short"];
  const tool = defineTool({ name: "read", schema: z.object({}), execute: () => outputs.shift() });
  const runtime = await world.runtime({ maxOutputBytes: 100 });
  const first = await runtime.call(tool, {}, task);
  await runtime.call(tool, {}, { ...task, attempt: 2 });
  expect(await runtime.fullOutput(first.key ?? "")).toBe("short");
});

it("does not return an invalid output to another run as a success", async () => {
  const world = await createWorld();
  const order = defineTool({
    name: "order",
    schema: z.object({}),
    outputSchema: z.object({ id: z.string() }),
    sideEffect: true,
    idempotent: false,
    idempotencyKey: () => "one",
    execute: (_args, ctx) => ({ id: ctx.seq as unknown as string }),
  });
  const runtime = await world.runtime();
  await runtime.call(order, {}, task);
  expect(await runtime.call(order, {}, { runId: "r2" })).toMatchObject({
    error: { code: "TOOL_OUTPUT_INVALID" },
  });
});

it("does not wait for a service that asks for more than an hour", async () => {
  const world = await createWorld();
  const tool = defineTool({
    name: "closed",
    schema: z.object({}),
    retry: { maxRetries: 3 },
    execute: () => {
      throw Object.assign(new Error("closed"), { retryAfterMs: Infinity });
    },
  });
  expect(await (await world.runtime()).call(tool, {}, task)).toMatchObject({ error: { message: "closed" } });
});

it.each([
  ["call", { runid: "r1" }],
  ["call", { runId: "r1", callKey: 5 }],
  ["call", { runId: "r1", signal: {} }],
  ["run", { runId: "r1", nodeid: "n" }],
  ["run", { runId: "r1", settings: { rootdir: "x" } }],
  ["calls", { runid: "r1" }],
  ["calls", { limit: Number.NaN }],
  ["approvals", { state: "pending" }],
] as const)(
  "refuses %s(%j) with a message: a misspelt option would be lost silently",
  async (method, options) => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const { charge } = createCharge();
    const given = options as never;
    const ask = {
      call: () => runtime.call(charge, { amount: 1 }, given),
      run: () => runtime.run(given, () => 1),
      calls: () => runtime.calls(given),
      approvals: () => runtime.approvals(given),
    };
    await expect(ask[method]()).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
  },
);

it("refuses a decision with an unknown field: edited arguments must not be lost to a typo", async () => {
  const world = await createWorld();
  const { charge } = createCharge({ needsApproval: true });
  const runtime = await world.runtime();
  const pending = await runtime.call(charge, { amount: 7 }, task);
  if (pending.status !== "pending") throw new Error(pending.status);
  const decision = { approved: true, aprovedArgs: { amount: 1 } } as never;
  await expect(runtime.resolveToolApproval(pending.approval.id, decision)).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringContaining('Did you mean "approvedArgs"?'),
  });
});

it("refuses a missing argument with a message", () => {
  expect(() => createRuntime(null as never)).toThrow(/must be an object/);
  expect(() => createRuntime("app.db" as never)).toThrow(/must be an object/);
  expect(() => defineTool(undefined as never)).toThrow(/needs an object/);
  expect(() => createRuntime({ store: "mysql://x" })).toThrow(/postgres:\/\//);
});

it.each([
  ["/no/such/folder/a.db", /folder that does not exist/],
  [".", /is a folder/],
])("says what is wrong with the store %s", async (store, words) => {
  const runtime = createRuntime({ store });
  await expect(runtime.ready()).rejects.toThrow(words);
});

it("creates a store that only its owner can read", async () => {
  const store = join(mkdtempSync(join(tmpdir(), "toolwright-mode-")), "a.db");
  await using runtime = createRuntime({ store });
  await runtime.ready();
  expect(statSync(store).mode & 0o777).toBe(0o600);
});

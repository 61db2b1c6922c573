/** Rule 31: values that a tool declares secret are nowhere in plain text. */
import { defineTool, type RuntimeEvent } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, times, until, type World } from "./harness.ts";

const task = { runId: "r1" };
const SECRET = 'hunter2 "quoted" \\ and more';
const MARK = /^\[redacted sha256:[\w-]{43}\]$/;

/** The text as it appears in JSON, escaped up to two levels deep. */
function spellings(secret: string): string[] {
  const once = JSON.stringify(secret).slice(1, -1);
  return [secret, once, JSON.stringify(once).slice(1, -1), "hunter2"];
}

async function expectNowhere(world: World, secret: string, ...more: unknown[]) {
  const text = [await world.dump(), JSON.stringify(more)].join("\n");
  for (const spelling of spellings(secret)) expect(text).not.toContain(spelling);
}

function createLogin(execute: (input: { user: string; password: string }) => unknown, more: object = {}) {
  return defineTool({
    name: "login",
    schema: z.object({ user: z.string(), password: z.string() }),
    redact: { input: ["password"], output: ["token", "sessions.*.token"] },
    ...more,
    execute,
  });
}

it("rule 31: inputs and outputs are stored as marks; the live caller gets the clear output", async () => {
  const world = await createWorld();
  const seen: string[] = [];
  const login = createLogin(({ password }) => {
    seen.push(password);
    return { token: SECRET, sessions: [{ token: SECRET, at: 1 }] };
  });
  const runtime = await world.runtime();
  const events: RuntimeEvent[] = [];
  runtime.subscribe((event) => events.push(event));
  const live = await runtime.call(login, { user: "ann", password: SECRET }, task);
  expect(live).toMatchObject({ output: { token: SECRET, sessions: [{ token: SECRET, at: 1 }] } });
  expect(seen).toEqual([SECRET]);
  const replayed = await (await world.runtime()).call(login, { user: "ann", password: SECRET }, task);
  const mark = expect.stringMatching(MARK) as string;
  expect(replayed).toMatchObject({
    output: { token: mark, sessions: [{ token: mark, at: 1 }] },
    replayed: true,
  });
  const [row] = await world.log("r1");
  expect(JSON.parse(String(row?.["input_json"]))).toEqual({ user: "ann", password: mark });
  await expectNowhere(world, SECRET, events, await runtime.calls(task));
});

it.each([
  { sent: SECRET },
  { sent: [SECRET] },
  { sent: { account: SECRET } },
  { sent: { account: JSON.stringify({ password: SECRET }) } },
])(
  "rule 31: an input that does not have the shape of the path is replaced by a mark completely",
  async ({ sent }) => {
    const world = await createWorld();
    const login = defineTool({
      name: "login",
      schema: z.object({ account: z.object({ password: z.string() }) }),
      redact: { input: ["account.password"] },
      execute: () => "never",
    });
    const runtime = await world.runtime();
    const outcome = await runtime.call(login, sent as never, task);
    expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_INPUT_INVALID" } });
    await expectNowhere(world, SECRET, await runtime.calls(task));
  },
);

it("rule 31: equal secrets have equal marks in one store, and different ones in another: the hash is keyed", async () => {
  const marks: string[] = [];
  for (let times = 0; times < 2; times += 1) {
    const world = await createWorld();
    const login = createLogin(() => "ok");
    const runtime = await world.runtime();
    await runtime.call(login, { user: "ann", password: SECRET }, task);
    await runtime.call(login, { user: "ben", password: SECRET }, task);
    const rows = await world.log("r1");
    const [one, other] = rows.map(
      (row) => (JSON.parse(String(row["input_json"])) as { password: string }).password,
    );
    expect(one).toBe(other);
    marks.push(one ?? "");
  }
  expect(marks[0]).not.toBe(marks[1]);
});

it("rule 31: calls that differ only in the secret are two calls", async () => {
  const world = await createWorld();
  let runs = 0;
  const login = createLogin(() => (runs += 1));
  for (const password of ["one", "two", "one"]) {
    await (await world.runtime()).call(login, { user: "ann", password }, task);
  }
  expect(runs).toBe(2);
});

it("rule 31: requests and their prompts show marks only", async () => {
  const world = await createWorld();
  const login = createLogin(() => "ok", {
    needsApproval: true,
    approvalPrompt: (input: { user: string; password: string }) =>
      `Log in ${input.user} with ${input.password}?`,
  });
  const runtime = await world.runtime();
  const outcome = await runtime.call(login, { user: "ann", password: SECRET }, task);
  const approvals = await runtime.approvals();
  expect(approvals[0]?.prompt).toMatch(/^Log in ann with \[redacted sha256:[\w-]{43}\]\?$/);
  expect(approvals[0]?.args).toEqual({ user: "ann", password: expect.stringMatching(MARK) });
  await expectNowhere(world, SECRET, outcome, approvals);
});

it("rule 31: a secret in the edited arguments is not stored in plain text either", async () => {
  const world = await createWorld();
  const login = createLogin(
    ({ password }) => {
      throw new Error(`wrong password ${password}`);
    },
    { needsApproval: true },
  );
  const runtime = await world.runtime();
  const input = { user: "ann", password: "first" };
  await runtime.call(login, input, task);
  const [approval] = await runtime.approvals();
  const settled = await runtime
    .resolveToolApproval(approval?.id ?? "", {
      approved: true,
      approvedArgs: { user: "ann", password: SECRET },
    })
    .catch((error: unknown) => error);
  const outcome = await (await world.runtime()).call(login, input, task);
  await expectNowhere(world, SECRET, settled, outcome);
});

it("rule 31: error messages, hints, details and stored errors hold no secret, however it is encoded", async () => {
  const world = await createWorld();
  const login = createLogin(({ password }) => {
    throw Object.assign(new Error(`401 for ${JSON.stringify({ password })}: ${password}`), { password });
  });
  const outcome = await (await world.runtime()).call(login, { user: "ann", password: SECRET }, task);
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_EXECUTION_FAILED" } });
  if (outcome.status !== "error") throw new Error(outcome.status);
  expect(outcome.error.message).toContain("401");
  await expectNowhere(
    world,
    SECRET,
    outcome.error.message,
    outcome.error.details,
    outcome.error.hint,
    outcome.error,
  );
  const replayed = await (await world.runtime()).call(login, { user: "ann", password: SECRET }, task);
  await expectNowhere(world, SECRET, replayed);
});

it("rule 31: a secret that is an object is scrubbed value by value", async () => {
  const world = await createWorld();
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.object({ number: z.string() }) }),
    redact: { input: ["card"] },
    execute: ({ card }) => {
      throw new Error(`card ${card.number} refused`);
    },
  });
  const outcome = await (await world.runtime()).call(pay, { card: { number: "hunter2-4111" } }, task);
  if (outcome.status !== "error") throw new Error(outcome.status);
  await expectNowhere(world, "hunter2-4111", outcome.error.message);
});

it("rule 31: a cached output is stored redacted, and a live hit equals a replay", async () => {
  const world = await createWorld();
  const login = createLogin(() => ({ token: SECRET }), { cache: true });
  const runtime = await world.runtime();
  await runtime.call(login, { user: "ann", password: "x" }, task);
  await runtime.call(login, { user: "ann", password: "x" }, task);
  await expectNowhere(world, SECRET);
});

it("rule 31: intermediate values of a generator are redacted in events", async () => {
  const world = await createWorld();
  const login = createLogin(async function* () {
    yield { token: SECRET, step: 1 };
    yield { token: SECRET, step: 2 };
  });
  const events: RuntimeEvent[] = [];
  const runtime = await world.runtime();
  runtime.subscribe((event) => events.push(event));
  const outcome = await runtime.call(login, { user: "ann", password: "x" }, task);
  expect(outcome).toMatchObject({ output: { token: SECRET, step: 2 } });
  expect(events.filter(({ type }) => type === "call-progress")).toHaveLength(2);
  await expectNowhere(world, SECRET, events);
});

it("rule 31: the output of reconcile is stored redacted", async () => {
  const world = await createWorld();
  let runs = 0;
  const login = createLogin(() => ((runs += 1), never()), {
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    settleMs: 0,
    reconcile: () => ({ happened: true, output: { token: SECRET } }),
  });
  const input = { user: "ann", password: "x" };
  void (await world.runtime()).call(login, input, task).catch(() => undefined);
  await until(() => runs === 1);
  await world.killAll();
  const outcome = await (await world.runtime()).call(login, input, task);
  expect(outcome).toMatchObject({ status: "success" });
  await expectNowhere(world, SECRET);
});

it("rule 31: an output that failed validation is stored redacted", async () => {
  const world = await createWorld();
  const login = createLogin(() => ({ token: SECRET, count: "many" }), {
    outputSchema: z.object({ token: z.string(), count: z.number() }),
  });
  const outcome = await (await world.runtime()).call(login, { user: "ann", password: "x" }, task);
  expect(outcome).toMatchObject({ error: { code: "TOOL_OUTPUT_INVALID" } });
  await expectNowhere(world, SECRET, outcome);
});

it("rule 31: an argument that contains a mark at any depth is refused before the intent", async () => {
  const world = await createWorld();
  let runs = 0;
  const anything = defineTool({ name: "anything", schema: z.unknown(), execute: () => (runs += 1) });
  const runtime = await world.runtime();
  const mark = `[redacted sha256:${"x".repeat(43)}]`;
  const places = [
    mark,
    { a: [{ b: mark }] },
    `Bearer ${mark}`,
    { m: new Map([["k", mark]]) },
    { s: new Set([mark]) },
  ];
  for (const [at, args] of places.entries()) {
    const outcome = await runtime.call(anything, args, { ...task, callKey: String(at) });
    expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_INPUT_REDACTED" } });
  }
  expect(runs).toBe(0);
  expect((await world.log("r1")).map((row) => [row["status"], row["tries"]])).toEqual(times(5, ["error", 0]));
});

it("rule 31: the warning of a retry shows marks only", async () => {
  const world = await createWorld();
  const login = createLogin(() => ({ token: SECRET }), {
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
  });
  const runtime = await world.runtime();
  await runtime.call(login, { user: "ann", password: SECRET }, task);
  const warning = await runtime.retryWarning({ ...task, attempt: 2 });
  expect(warning).toContain("login");
  await expectNowhere(world, SECRET, warning);
});

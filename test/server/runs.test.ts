/** Runs that are started, resumed, cancelled and looked at over HTTP. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSmithers, defineTool } from "../../src/index.ts";
import { jsx } from "../../src/jsx-runtime.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import {
  ask,
  errorOf,
  freshStore,
  greeting,
  openEvents,
  openRuntime,
  pay,
  requestPayment,
  startServer,
} from "./harness.ts";

const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ paid: z.number() }) });

/** Waits for approval inside a task. */
const paying = smithers(() =>
  jsx(Workflow, {
    name: "paying",
    children: jsx(Task, {
      id: "pay",
      output: outputs.output,
      children: () => pay.execute({ euros: 5, to: "Ada" }),
    }),
  }),
);

/** Ends when it is aborted. */
const waits = defineTool({
  name: "wait_for_stop",
  description: "Waits until it is stopped.",
  schema: z.object({}),
  execute: (_, ctx) =>
    new Promise<{ paid: number }>((_resolve, reject) => {
      ctx.signal.addEventListener("abort", () => reject(new Error("stopped")));
    }),
});

const endless = smithers(() =>
  jsx(Workflow, {
    name: "endless",
    children: jsx(Task, { id: "wait", output: outputs.output, children: () => waits.execute({}) }),
  }),
);

describe.each(STORE_KINDS)("on $name", (kind) => {
  test("a run is started, waits for a decision, is decided and resumed, and finishes", async () => {
    const server = await startServer({ store: await freshStore(kind), workflows: { checkout: paying } });
    const events = await openEvents(server);
    const started = await ask(server, "/runs", { body: { workflow: "checkout", runId: "p-1" } });
    expect(started).toMatchObject({ status: 202, body: { runId: "p-1" } });
    await events.until(isIn("p-1", "waiting-approval"));
    const [approval] = ((await ask(server, "/approvals?status=pending")).body as { approvals: Shown[] })
      .approvals;
    expect(approval).toMatchObject({
      toolName: "pay",
      args: { euros: 5, to: "Ada" },
      schema: { type: "object" },
      expiresAtMs: null,
    });
    const decided = await ask(server, `/approvals/${approval?.id}/decision`, {
      body: { approved: true, argsHash: approval?.argsHash, comment: "fine" },
    });
    expect(decided).toMatchObject({
      status: 200,
      body: { status: "approved", decidedBy: "operator", comment: "fine", decidedAtMs: expect.any(Number) },
    });
    expect(await ask(server, "/runs/p-1/resume", { body: {} })).toMatchObject({
      status: 202,
      body: { runId: "p-1", resumed: true },
    });
    await events.until(isIn("p-1", "finished"));
    const calls = (await ask(server, "/runs/p-1/calls")).body as {
      calls: { key: string; attempt: number }[];
    };
    const [call] = calls.calls;
    const output = await ask(server, `/calls/${call?.key}/${call?.attempt}?part=output`);
    expect(output.body).toMatchObject({ offset: 0, nextOffset: null });
    expect(JSON.parse((output.body as { text: string }).text)).toEqual({ paid: 5 });
    const over = await ask(server, "/runs/p-1/resume", { body: {} });
    expect(over.status).toBe(409);
    expect(errorOf(over).hint).toContain("fork it");
  });

  test("a run id that is taken: 409; an input that does not fit: 422, and no run", async () => {
    const server = await startServer({ store: await freshStore(kind), workflows: { greeting } });
    const body = { workflow: "greeting", input: { name: "Ada" }, runId: "g-1" };
    expect((await ask(server, "/runs", { body })).status).toBe(202);
    const taken = await ask(server, "/runs", { body });
    expect(taken.status).toBe(409);
    expect(errorOf(taken).code).toBe("WORKFLOW_RUN_EXISTS");
    const wrong = await ask(server, "/runs", {
      body: { workflow: "greeting", input: { name: 7 }, runId: "g-2" },
    });
    expect(wrong.status).toBe(422);
    expect(errorOf(wrong)).toMatchObject({
      code: "WORKFLOW_INPUT_INVALID",
      message: expect.stringContaining("name"),
    });
    expect((await ask(server, "/runs/g-2")).status).toBe(404);
    for (const runId of [".", "..", "a\u0000b"])
      expect([runId, (await ask(server, "/runs", { body: { ...body, runId } })).status]).toEqual([
        runId,
        422,
      ]);
  });

  test("a run in progress is cancelled; one that has ended is not", async () => {
    const server = await startServer({ store: await freshStore(kind), workflows: { endless } });
    const events = await openEvents(server);
    await ask(server, "/runs", { body: { workflow: "endless", runId: "e-1" } });
    const alive = await ask(server, "/runs/e-1/resume", { body: {} });
    expect(alive.body).toMatchObject({ resumed: true });
    const cancelled = await ask(server, "/runs/e-1/cancel", { body: {} });
    expect(cancelled).toMatchObject({ status: 202, body: { runId: "e-1" } });
    await events.until(isIn("e-1", "cancelled"));
    const again = await ask(server, "/runs/e-1/cancel", { body: {} });
    expect(again).toMatchObject({ status: 202, body: { status: "cancelled" } });
  });
});

interface Shown {
  readonly id: string;
  readonly argsHash: string;
}

function isIn(runId: string, status: string) {
  return ({ data }: { readonly data: Readonly<Record<string, unknown>> }): boolean =>
    ((data["runs"] ?? []) as { runId: string; status: string }[]).some(
      (run) => run.runId === runId && run.status === status,
    );
}

test("without anything that resumes the run, the answer says so, with the command where there is one", async () => {
  const store = await freshStore();
  const server = await startServer({ store });
  await requestPayment(openRuntime(store), "program-1");
  const program = await ask(server, "/runs/program-1/resume", { body: {} });
  expect(program).toMatchObject({ status: 202, body: { runId: "program-1", resumed: false, command: null } });
  expect((program.body as { message: string }).message).toContain("again");
  const runtime = openRuntime(store);
  await runtime.enqueue("greeting", { runId: "w-1" });
  await runtime.enqueue("clerk", { runId: "a-1", kind: "agent" });
  for (const runId of ["w-1", "a-1"])
    expect((await ask(server, `/runs/${runId}/resume`, { body: {} })).body).toMatchObject({
      resumed: false,
      message: "It is queued. No worker is running. Start a worker that knows it.",
      command: expect.stringMatching(/toolwright worker --store/),
    });
});

test("a server that closes gives its runs back, and the next one resumes them", async () => {
  const store = await freshStore();
  const server = await startServer({ store, workflows: { endless } });
  await ask(server, "/runs", { body: { workflow: "endless", runId: "e-1" } });
  await server.close();
  const runtime = openRuntime(store);
  expect(await runtime.describeRun("e-1")).toMatchObject({ status: "queued", error: null });
  const next = await startServer({ store, workflows: { endless } });
  const resumed = await ask(next, "/runs/e-1/resume", { body: {} });
  expect(resumed).toMatchObject({ status: 202, body: { runId: "e-1", resumed: true } });
  expect((await runtime.describeRun("e-1")).status).toBe("running");
});

test("a workflow that cannot be loaded is an error with its message, and the server keeps serving", async () => {
  const broken = { load: () => Promise.reject(new Error("no such file: order.tsx")) };
  const server = await startServer({ store: await freshStore(), workflows: { broken } });
  const answer = await ask(server, "/runs", { body: { workflow: "broken" } });
  expect(answer.status).toBe(500);
  expect(errorOf(answer)).toMatchObject({
    code: "WORKFLOW_INVALID",
    message: expect.stringContaining("order.tsx"),
  });
  expect((await ask(server, "/runs")).status).toBe(200);
});

/** Each activation is one trace, one that waits has not failed, and links name what they say. */
import { context, SpanStatusCode } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import Anthropic from "@anthropic-ai/sdk";
import { createRuntime, createWorker, defineTool, runAgentLoop, type Runtime } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { createScriptedAnthropic } from "toolwright/testing";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { never, until } from "../semantics/harness.ts";
import { createStorePath, endAllOwners } from "../workflow/harness.ts";
import { linksOf, openSdk, type Seen, spanNamed } from "./harness.ts";

const effect = { schema: z.object({}), sideEffect: true } as const;
const charge = defineTool({
  ...effect,
  name: "charge",
  idempotent: true,
  needsApproval: true,
  execute: () => "charged",
});
const add = defineTool({ name: "add", schema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 });

function open(seen: Seen, store = ":memory:"): Runtime {
  const runtime = createRuntime({ store, telemetry: openTelemetry(seen.sdk) });
  // A call that never returns would keep it open.
  onTestFinished(() => void runtime.close());
  return runtime;
}

/** A tool that never returns before `revive`, as in a process that is killed. */
function createSend(idempotent: boolean) {
  let isDying = true;
  let starts = 0;
  const send = defineTool({
    ...effect,
    idempotent,
    acceptsIdempotencyKey: false,
    name: "send",
    execute: () => {
      starts += 1;
      return isDying ? never<string>() : "sent";
    },
  });
  const revive = (): void => {
    isDying = false;
  };
  return { send, revive, hasStarted: () => starts > 0 };
}

it("a run that waits for approval has not failed", async () => {
  const seen = openSdk();
  const runtime = open(seen);
  await expect(runtime.run({ runId: "p", name: "pay" }, () => charge.execute({}))).rejects.toThrow();
  const program = spanNamed(seen.spans(), "invoke_workflow pay");
  expect(program.status.code).toBe(SpanStatusCode.UNSET);
  expect(program.attributes).toMatchObject({ "toolwright.status": "waiting-approval" });
  expect(program.attributes).not.toHaveProperty(["error.type"]);
  expect(await seen.points("gen_ai.workflow.duration")).toEqual([
    { value: 1, attributes: { "gen_ai.workflow.name": "pay" } },
  ]);

  await using server = await createScriptedAnthropic([[{ toolName: "charge", input: {} }], "Done."]);
  const client = new Anthropic({ baseURL: server.baseURL, apiKey: "any" });
  const messages = [{ role: "user" as const, content: "Pay." }];
  const loop = { client, model: "claude", tools: [charge], runtime, messages, runId: "a" };
  await runAgentLoop(loop);
  // The words of `runtime.runs`, for every kind of run.
  expect(spanNamed(seen.spans(), "invoke_agent").attributes["toolwright.status"]).toBe("waiting-approval");
  const [request] = await runtime.approvals({ runId: "a" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  await runAgentLoop(loop);
  expect(spanNamed(seen.spans(), "invoke_agent").attributes["toolwright.status"]).toBe("finished");
});

it("runs of a worker are separate traces, unrelated to the span that started the worker", async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(() => context.disable());
  const seen = openSdk();
  const runtime = open(seen, createStorePath());
  const worker = createWorker({
    runtime,
    programs: { add: ({ runId }) => runtime.run({ runId, name: "add" }, () => runtime.call(add, { n: 1 })) },
  });
  const tracer = seen.sdk.tracerProvider.getTracer("app");
  await tracer.startActiveSpan("boot", async (span) => {
    await worker.start();
    for (const runId of ["a", "b"]) await runtime.enqueue("add", { input: {}, runId });
    await worker.idle();
    await worker.drain();
    span.end();
  });
  const runs = seen.spans().filter(({ name }) => name === "invoke_workflow add");
  expect(runs.map(({ parentId }) => parentId)).toEqual([undefined, undefined]);
  expect(new Set(seen.spans().map((span) => span.context.traceId)).size).toBe(3);
  const first = seen.spans().find(({ name }) => name === "execute_tool add");
  expect(first?.parentId).toBe(runs[0]?.context.spanId);
});

it("the answer to a question about a killed call links to the question, which links to the call", async () => {
  const store = createStorePath();
  const seen = openSdk();
  const { send, revive, hasStarted } = createSend(false);
  void open(seen, store)
    .call(send, {}, { runId: "r" })
    .catch(() => undefined);
  await until(hasStarted);
  await endAllOwners(store);
  revive();
  const runtime = open(seen, store);
  expect((await runtime.call(send, {}, { runId: "r" })).status).toBe("pending");
  const question = spanNamed(seen.spans(), "request_approval send");
  expect(linksOf(question).map(([reason]) => reason)).toEqual(["resume"]);
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { resolution: "run-again" });
  expect((await runtime.call(send, {}, { runId: "r" })).status).toBe("success");
  const { spanId } = question.context;
  expect(linksOf(spanNamed(seen.spans(), "decide_approval send"))).toEqual([["request", spanId]]);
  expect(linksOf(spanNamed(seen.spans(), "execute_tool send"))).toEqual([["decision", spanId]]);
});

it("programs that are taken over count, on a worker and without one", async () => {
  const store = createStorePath();
  const { send, revive, hasStarted } = createSend(true);
  const dying = open(openSdk(), store);
  for (const runId of ["worker", "own"])
    void dying.run({ runId, name: "send" }, () => dying.call(send, {})).catch(() => undefined);
  await until(async () => hasStarted() && (await dying.calls({ runId: "own" })).length === 1);
  const seen = openSdk();
  const runtime = open(seen, store);
  await endAllOwners(store);
  revive();
  const program = (runId: string) => runtime.run({ runId, name: "send" }, () => runtime.call(send, {}));
  await program("own");
  const takeovers = () => seen.points("toolwright.runs.taken_over");
  const attributes = {
    "gen_ai.workflow.name": "send",
    "toolwright.run.kind": "program",
    "toolwright.takeover.repeated": false,
  };
  expect(await takeovers()).toEqual([{ value: 1, attributes }]);
  const worker = createWorker({ runtime, programs: { send: ({ runId }) => program(runId) } });
  await worker.start();
  await worker.idle();
  await worker.drain();
  expect((await runtime.describeRun("worker")).status).toBe("finished");
  expect(await takeovers()).toEqual([{ value: 2, attributes }]);
});

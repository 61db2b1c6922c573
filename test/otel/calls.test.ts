/** Spans and metrics of calls, with both generations of the SDK. */
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { GENERATIONS, linksOf, openSdk, type Seen, spanNamed, treeOf } from "./harness.ts";

const schema = z.object({ sku: z.string() });
const effect = { schema, sideEffect: true, idempotent: true } as const;
const pack = defineTool({
  ...effect,
  name: "pack",
  description: "Packs",
  execute: ({ sku }) => `packed ${sku}`,
});
const ship = defineTool({
  ...effect,
  name: "ship",
  execute: async ({ sku }) => `${await pack.execute({ sku })}, shipped`,
});
const charge = defineTool({ ...effect, name: "charge", needsApproval: true, execute: () => "charged" });
const cached = defineTool({ name: "cached", schema, cache: true, execute: () => "value" });
const broken = defineTool({
  ...effect,
  name: "broken",
  execute: () => {
    throw new Error("the vault code is open sesame");
  },
});

function openRuntime(seen: Seen, store = ":memory:"): Runtime {
  const runtime = createRuntime({ store, telemetry: openTelemetry(seen.sdk) });
  onTestFinished(() => runtime.close());
  return runtime;
}

const sum = (points: readonly { readonly value: number }[]): number =>
  points.reduce((total, { value }) => total + value, 0);

describe.each(GENERATIONS)("SDK %s", (generation) => {
  it("a call is a span with the attributes of the conventions, and nested calls are its children", async () => {
    const seen = openSdk(generation);
    await openRuntime(seen).call(ship, { sku: "apple" }, { runId: "r", toolCallId: "call_1" });
    expect(treeOf(seen.spans())).toBe("execute_tool ship\n  execute_tool pack");
    const span = spanNamed(seen.spans(), "execute_tool ship");
    expect(span.kind).toBe(SpanKind.INTERNAL);
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "ship",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "call_1",
      "toolwright.run.id": "r",
      "toolwright.run.kind": "program",
      "toolwright.node.id": "main",
      "toolwright.iteration": 0,
      "toolwright.attempt": 1,
      "toolwright.status": "success",
    });
    expect(spanNamed(seen.spans(), "execute_tool pack").attributes).toMatchObject({
      "gen_ai.tool.description": "Packs",
    });
    const durations = await seen.points("gen_ai.execute_tool.duration");
    expect(durations.map(({ attributes }) => attributes)).toEqual([
      { "gen_ai.tool.name": "pack", "gen_ai.tool.type": "function" },
      { "gen_ai.tool.name": "ship", "gen_ai.tool.type": "function" },
    ]);
    expect(sum(await seen.points("toolwright.store.commit.duration"))).toBeGreaterThan(0);
  });

  it("each row is one span or one replay count", async () => {
    const seen = openSdk(generation);
    const store = join(mkdtempSync(join(tmpdir(), "otel-")), "app.db");
    const program = async (runtime: Runtime): Promise<void> => {
      await runtime.run({ runId: "r" }, async () => {
        await ship.execute({ sku: "apple" });
        await cached.execute({ sku: "pear" });
        await cached.execute({ sku: "pear" });
        await broken.execute({ sku: "plum" }).catch(() => undefined);
        await pack.execute({ sku: 1 } as never).catch(() => undefined);
      });
    };
    const first = openRuntime(seen, store);
    await program(first);
    const rows = await first.calls({ runId: "r" });
    const toolSpans = () => seen.spans().filter(({ name }) => name.startsWith("execute_tool"));
    expect(rows).toHaveLength(6);
    expect(toolSpans()).toHaveLength(5);
    expect(await seen.points("toolwright.calls.replayed")).toMatchObject([
      { value: 1, attributes: { "gen_ai.tool.name": "cached", "toolwright.replay.source": "cache" } },
    ]);
    await first.close();
    const second = openRuntime(seen, store);
    await program(second);
    expect(toolSpans()).toHaveLength(5);
    // The calls inside a replayed one are not made again.
    expect(sum(await seen.points("toolwright.calls.replayed"))).toBe(1 + 5);
    expect(await second.calls({ runId: "r" })).toHaveLength(6);
    const [one, two] = seen.spans().filter(({ name }) => name === "invoke_workflow program");
    expect(linksOf(two as never)).toEqual([["resume", one?.context.spanId]]);
    expect(two?.context.traceId).not.toBe(one?.context.traceId);
  });

  it("an error has its code as error.type, and no message", async () => {
    const seen = openSdk(generation);
    await openRuntime(seen).call(broken, { sku: "apple" });
    const span = spanNamed(seen.spans(), "execute_tool broken");
    expect(span.attributes["error.type"]).toBe("TOOL_EXECUTION_FAILED");
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(await seen.text()).not.toContain("sesame");
    const [duration] = await seen.points("gen_ai.execute_tool.duration");
    expect(duration?.attributes["error.type"]).toBe("TOOL_EXECUTION_FAILED");
  });

  it("a call that runs after a decision links to its request, and so does the decision", async () => {
    const seen = openSdk(generation);
    const runtime = openRuntime(seen);
    const outcome = await runtime.call(charge, { sku: "apple" }, { runId: "r" });
    expect(seen.spans().map(({ name }) => name)).toEqual(["request_approval charge"]);
    expect(await seen.points("toolwright.approvals.pending")).toMatchObject([{ value: 1 }]);
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await runtime.resolveToolApproval(outcome.approval.id, { approved: true });
    await runtime.call(charge, { sku: "apple" }, { runId: "r" });
    const request = spanNamed(seen.spans(), "request_approval charge").context.spanId;
    expect(linksOf(spanNamed(seen.spans(), "decide_approval charge"))).toEqual([["request", request]]);
    expect(linksOf(spanNamed(seen.spans(), "execute_tool charge"))).toEqual([["decision", request]]);
    expect(seen.spans()).toHaveLength(3);
    expect(await seen.points("toolwright.approval.wait")).toMatchObject([
      { value: 1, attributes: { "toolwright.approved": true } },
    ]);
    expect(await seen.points("toolwright.approvals.pending")).toMatchObject([{ value: 0 }]);
  });

  it("a denied call is an error", async () => {
    const seen = openSdk(generation);
    const runtime = openRuntime(seen);
    const outcome = await runtime.call(charge, { sku: "apple" }, { runId: "r" });
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await runtime.resolveToolApproval(outcome.approval.id, { approved: false });
    await runtime.call(charge, { sku: "apple" }, { runId: "r" });
    const span = spanNamed(seen.spans(), "execute_tool charge");
    expect(span.attributes).toMatchObject({
      "error.type": "TOOL_APPROVAL_DENIED",
      "toolwright.status": "denied",
    });
    expect(linksOf(span).map(([reason]) => reason)).toEqual(["decision"]);
    expect(await seen.points("gen_ai.execute_tool.duration")).toEqual([]);
  });

  it("a call of the next attempt links to the previous one", async () => {
    const seen = openSdk(generation);
    const runtime = openRuntime(seen);
    await runtime.call(broken, { sku: "apple" }, { runId: "r", attempt: 1 });
    await runtime.call(broken, { sku: "apple" }, { runId: "r", attempt: 2 });
    const [one, two] = seen.spans();
    expect(linksOf(two as never)).toEqual([["retry", one?.context.spanId]]);
  });

  it("retries of a call are events of its span", async () => {
    const seen = openSdk(generation);
    let tries = 0;
    const flaky = defineTool({
      ...effect,
      name: "flaky",
      retry: { maxRetries: 2, backoffMs: 0 },
      execute: () => {
        tries += 1;
        if (tries < 3) throw new Error("again");
        return "done";
      },
    });
    await openRuntime(seen).call(flaky, { sku: "apple" });
    expect(seen.spans()).toHaveLength(1);
    expect(
      seen.spans()[0]?.events.map(({ name, attributes }) => [name, attributes?.["toolwright.tries"]]),
    ).toEqual([
      ["toolwright.retry", 1],
      ["toolwright.retry", 2],
    ]);
  });
});

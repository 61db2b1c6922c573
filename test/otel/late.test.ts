/** An SDK that is registered after the runtime was created, and decisions of processes without an SDK. */
import { metrics, trace } from "@opentelemetry/api";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { expect, it, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createStorePath } from "../workflow/harness.ts";
import { GENERATIONS, linksOf, openSdk, spanNamed, treeOf } from "./harness.ts";

const charge = defineTool({
  name: "charge",
  schema: z.object({}),
  sideEffect: true,
  idempotent: true,
  needsApproval: true,
  execute: () => "charged",
});
const add = defineTool({ name: "add", schema: z.object({ n: z.number() }), execute: ({ n }) => n + 1 });

const pay = (runtime: Runtime, runId: string) =>
  runtime.run({ runId, name: "pay" }, () => runtime.call(charge, {}));

it.each(GENERATIONS)("an SDK %s that is registered later is used from then on", async (generation) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  await using runtime = createRuntime({ store: createStorePath(), telemetry: openTelemetry() });
  await pay(runtime, "before");
  const seen = openSdk(generation);
  trace.setGlobalTracerProvider(seen.sdk.tracerProvider);
  metrics.setGlobalMeterProvider(seen.sdk.meterProvider);
  onTestFinished(() => {
    trace.disable();
    metrics.disable();
  });
  // Even a runtime that does nothing finds it.
  vi.advanceTimersByTime(1_000);
  expect(await seen.points("toolwright.approvals.pending")).toMatchObject([{ value: 1 }]);
  await runtime.run({ runId: "after", name: "late" }, () => runtime.call(add, { n: 1 }));
  expect(treeOf(seen.spans())).toBe("invoke_workflow late\n  execute_tool add");
  expect(await seen.points("gen_ai.execute_tool.duration")).toMatchObject([{ value: 1 }]);
  expect(await seen.points("gen_ai.workflow.duration")).toMatchObject([{ value: 1 }]);
});

test("the wait of a request is reported once, whichever process decides it", async () => {
  const store = createStorePath();
  const seen = openSdk();
  const others = openSdk();
  await using runtime = createRuntime({ store, telemetry: openTelemetry(seen.sdk) });
  await using other = createRuntime({ store, telemetry: openTelemetry(others.sdk) });
  await using plain = createRuntime({ store });
  for (const runId of ["a", "b", "c"]) await pay(runtime, runId);
  const requested = seen.spans().filter(({ name }) => name === "request_approval charge");
  const decide = async (by: Runtime, runId: string, approved: boolean): Promise<void> => {
    const [request] = await by.approvals({ runId });
    await by.resolveToolApproval(request?.id ?? "", { approved });
  };
  await decide(plain, "a", true);
  await decide(other, "b", false);
  await decide(plain, "c", false);
  const waits = async () =>
    (await Promise.all([seen, others].map((sdk) => sdk.points("toolwright.approval.wait")))).flat().reduce(
      (sums, { attributes, value }) => {
        const approved = String(attributes["toolwright.approved"]);
        return { ...sums, [approved]: (sums[approved] ?? 0) + value };
      },
      {} as Record<string, number>,
    );
  const expected = { true: 1, false: 2 };
  expect(await waits()).toEqual(expected);
  expect(await waits()).toEqual(expected);
  expect(linksOf(spanNamed(others.spans(), "decide_approval charge"))).toEqual([
    ["request", requested[1]?.context.spanId],
  ]);
  expect(await pay(runtime, "a")).toMatchObject({ status: "success" });
  expect(linksOf(spanNamed(seen.spans(), "execute_tool charge"))).toEqual([
    ["decision", requested[0]?.context.spanId],
  ]);
  expect(await waits()).toEqual(expected);
});

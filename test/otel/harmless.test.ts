/** An SDK that throws, hangs or is slow changes nothing about a run. */
import {
  context,
  type ContextManager,
  type MeterProvider,
  ROOT_CONTEXT,
  type TracerProvider,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager as Context2 } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, BatchSpanProcessor, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { AsyncLocalStorageContextManager as Context1 } from "otel-context-1";
import { createRuntime, defineTool, type Outcome } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { openSdk, treeOf } from "./harness.ts";

const add = defineTool({
  name: "add",
  schema: z.object({ n: z.number() }),
  sideEffect: true,
  idempotent: true,
  execute: ({ n }) => n + 1,
});
let effects = 0;
const twice = defineTool({
  name: "twice",
  schema: z.object({ n: z.number() }),
  sideEffect: true,
  idempotent: true,
  execute: async ({ n }) => {
    effects += 1;
    return add.execute({ n: await add.execute({ n }) });
  },
});

beforeEach(() => {
  effects = 0;
});

async function callWith(telemetry: Parameters<typeof openTelemetry>[0]): Promise<Outcome> {
  vi.spyOn(console, "warn").mockReturnValue();
  onTestFinished(() => void vi.restoreAllMocks());
  await using runtime = createRuntime({ store: ":memory:", telemetry: openTelemetry(telemetry) });
  return await runtime.run({ runId: "r" }, () => runtime.call(twice, { n: 1 }));
}

/** Works until the method with this name is called. */
function throwing(name: string): { tracerProvider: TracerProvider; meterProvider: MeterProvider } {
  const { sdk } = openSdk();
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (object, property) => {
        const value: unknown = Reflect.get(object, property, object);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (property === name) throw new Error(`${name} is broken`);
          const made: unknown = Reflect.apply(value, object, args);
          const isSdkObject = /^(getTracer|startSpan|getMeter|create\w+)$/.test(String(property));
          return isSdkObject ? wrap(made as object) : made;
        };
      },
    });
  return { tracerProvider: wrap(sdk.tracerProvider), meterProvider: wrap(sdk.meterProvider) };
}

it.each([
  "getTracer",
  "startSpan",
  "spanContext",
  "setAttributes",
  "addLink",
  "setStatus",
  "end",
  "getMeter",
  "createHistogram",
  "createCounter",
  "createObservableGauge",
  "record",
  "add",
])("%s throws", async (name) => {
  expect(await callWith(throwing(name))).toMatchObject({ status: "success", output: 3 });
  expect(effects).toBe(1);
});

it("an exporter that throws, hangs or is slow", async () => {
  const exporters = [
    () => {
      throw new Error("broken");
    },
    () => undefined,
    () => {
      const until = performance.now() + 20;
      while (performance.now() < until);
    },
  ];
  for (const run of exporters) {
    const exporter = { export: run, shutdown: () => new Promise<void>(() => undefined) };
    const spanProcessors = [new SimpleSpanProcessor(exporter), new BatchSpanProcessor(exporter)];
    const tracerProvider = new BasicTracerProvider({ spanProcessors });
    expect(await callWith({ tracerProvider })).toMatchObject({ output: 3 });
  }
  expect(effects).toBe(3);
});

it("a context manager that throws before, instead of or after the work runs it once", async () => {
  for (const when of ["before", "after"]) {
    const manager: ContextManager = {
      active: () => ROOT_CONTEXT,
      with: (_context, work, thisArg, ...args) => {
        if (when === "before") throw new Error("broken");
        Reflect.apply(work, thisArg, args);
        throw new Error("broken");
      },
      bind: (_context, target) => target,
      enable: () => manager,
      disable: () => manager,
    };
    context.setGlobalContextManager(manager);
    try {
      expect(await callWith(openSdk().sdk)).toMatchObject({ output: 3 });
    } finally {
      context.disable();
    }
  }
  expect(effects).toBe(2);
});

it.each([
  ["1.x", new Context1()],
  ["2.x", new Context2()],
] as const)(
  "spans of the application are in the tree, with the context manager of SDK %s",
  async (generation, manager) => {
    context.setGlobalContextManager(manager.enable());
    onTestFinished(() => context.disable());
    const seen = openSdk(generation);
    const tracer = seen.sdk.tracerProvider.getTracer("app");
    const traced = defineTool({
      name: "traced",
      schema: z.object({}),
      execute: () =>
        tracer.startActiveSpan("GET /stock", async (span) => {
          await add.execute({ n: 1 });
          span.end();
        }),
    });
    await using runtime = createRuntime({ store: ":memory:", telemetry: openTelemetry(seen.sdk) });
    await tracer.startActiveSpan("POST /orders", async (span) => {
      await runtime.call(traced, {});
      span.end();
    });
    expect(treeOf(seen.spans())).toBe(
      "POST /orders\n  execute_tool traced\n    GET /stock\n      execute_tool add",
    );
  },
);

it("without an SDK nothing is stored, and nothing fails", async () => {
  expect(await callWith({})).toMatchObject({ output: 3 });
});

it("wrong options are refused by name", () => {
  expect(() => openTelemetry({ content: true } as never)).toThrow(/content.*"redacted"/);
  expect(() => openTelemetry({ contents: false } as never)).toThrow(/contents/);
  expect(() => openTelemetry({ tracerProvider: {} } as never)).toThrow(/tracerProvider.*getTracer/);
  expect(() => openTelemetry({ meterProvider: 1 } as never)).toThrow(/meterProvider.*getMeter/);
  expect(() => createRuntime({ telemetry: true } as never)).toThrow(/telemetry.*openTelemetry\(\)/);
});

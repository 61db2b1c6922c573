/**
 * Traces and metrics of an agent whose process stops while it waits for approval. The spans go to a file, one line of JSON
 * each, as a collector would receive them. The second process makes a second trace, which links to the first one.
 *
 * Run it with: npm run example telemetry
 */
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, type ReadableSpan, type SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createRuntime, createSmartAgent, defineTool } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { createScriptedModel } from "toolwright/testing";
import { z } from "zod";

const folder = mkdtempSync(join(tmpdir(), "toolwright-telemetry-"));
const traces = join(folder, "traces.jsonl");

/** With a collector: a BatchSpanProcessor with the OTLPTraceExporter of @opentelemetry/exporter-trace-otlp-http. */
const toFile: SpanProcessor = {
  onStart: () => undefined,
  onEnd: (span) => appendFileSync(traces, `${JSON.stringify(lineOf(span))}\n`),
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};

function lineOf(span: ReadableSpan) {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    traceId,
    spanId,
    parentId: span.parentSpanContext?.spanId,
    links: span.links.map(({ context }) => context.traceId),
    attributes: span.attributes,
  };
}
type Line = ReturnType<typeof lineOf>;

const reader = new PeriodicExportingMetricReader({
  exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
});
const sdk = {
  tracerProvider: new BasicTracerProvider({ spanProcessors: [toFile] }),
  meterProvider: new MeterProvider({ readers: [reader] }),
};

const refund = defineTool({
  name: "refund",
  description: "Pays money back",
  schema: z.object({ customer: z.string(), card: z.string() }),
  sideEffect: true,
  needsApproval: true,
  redact: { input: ["card"] },
  execute: ({ customer }, ctx) => ({ paid: customer, key: ctx.idempotencyKey }),
});

/** Each call is a process: nothing but the store is shared. */
async function start(decide: boolean): Promise<string> {
  await using runtime = createRuntime({ store: join(folder, "app.db"), telemetry: openTelemetry(sdk) });
  const [request] = decide ? await runtime.approvals({ status: "pending" }) : [];
  if (request !== undefined) await runtime.resolveToolApproval(request.id, { approved: true });
  const model = createScriptedModel([
    [{ toolName: "refund", input: { customer: "Ann", card: "4111 1111 1111 1111" } }],
    "Ann has her money back.",
  ]);
  const agent = createSmartAgent({ name: "support", model, tools: [refund], runtime });
  const { status } = await agent.invoke({
    runId: "case-7",
    messages: [{ role: "user", content: "Refund Ann." }],
  });
  return status;
}

assert.equal(await start(false), "waiting");
assert.equal(await start(true), "finished");

const text = readFileSync(traces, "utf8");
const lines = text
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Line);
for (const traceId of new Set(lines.map((line) => line.traceId))) {
  console.log(`trace ${traceId}`);
  print(traceId, undefined, 1);
}

function print(traceId: string, parentId: string | undefined, depth: number): void {
  for (const line of lines.filter((one) => one.traceId === traceId && one.parentId === parentId)) {
    const links = line.links.map((id) => `, links to ${id.slice(0, 8)}…`).join("");
    console.log(`${"  ".repeat(depth)}${line.name}${links}`);
    print(traceId, line.spanId, depth + 1);
  }
}

// The example checks itself.
const [first, second] = lines.filter(({ name }) => name === "invoke_agent support");
assert.ok(first !== undefined && second !== undefined && first.traceId !== second.traceId);
assert.deepEqual(second.links, [first.traceId]);
const ran = lines.filter(({ name }) => name === "execute_tool refund");
assert.equal(ran.length, 1, "the tool ran once");
assert.deepEqual(ran[0]?.links, [first.traceId]);
// The first response was replayed in the second process: two responses were requested in all.
assert.equal(lines.filter(({ name }) => name.startsWith("chat")).length, 2);
assert.ok(!/Ann|4111/.test(text), "no arguments and no outputs");

const { resourceMetrics } = await reader.collect();
const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
console.log("metrics");
for (const { descriptor, dataPoints } of metrics)
  console.log(`  ${descriptor.name}: ${dataPoints.length} series`);
assert.ok(metrics.some(({ descriptor }) => descriptor.name === "toolwright.approval.wait"));
await reader.shutdown();

/** The instruments, with the units and boundaries that the conventions require. */
import type { BatchObservableCallback, Counter, Histogram, Meter, ObservableGauge } from "@opentelemetry/api";
import type { Waiting } from "../invoke/telemetry.ts";

export type Instruments = ReturnType<typeof createInstruments>;

const CALL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const AGENT_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
const WORKFLOW_SECONDS = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200];
/** Up to a week. */
const WAIT_SECONDS = [1, 10, 60, 300, 900, 3_600, 14_400, 86_400, 604_800];
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** No return type: `Instruments` follows from it, so that a new metric is named once. */
export function createInstruments(meter: Meter, readWaiting: () => Promise<Waiting | undefined>) {
  const histogram = (name: string, boundaries: number[], description: string, unit = "s"): Histogram =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: boundaries } });
  const counter = (name: string, unit: string, description: string): Counter =>
    meter.createCounter(name, { unit, description });
  const approvalWait = histogram("toolwright.approval.wait", WAIT_SECONDS, "From a request to its decision.");
  return {
    toolDuration: histogram("gen_ai.execute_tool.duration", CALL_SECONDS, "How long tools ran."),
    agentDuration: histogram("gen_ai.invoke_agent.duration", AGENT_SECONDS, "How long agents ran."),
    workflowDuration: histogram(
      "gen_ai.workflow.duration",
      WORKFLOW_SECONDS,
      "How long activations of workflows and programs took.",
    ),
    chatDuration: histogram("gen_ai.client.operation.duration", CALL_SECONDS, "How long models took."),
    tokens: histogram("gen_ai.client.token.usage", TOKENS, "Tokens per request.", "{token}"),
    approvalWait,
    queueLag: histogram("toolwright.queue.lag", WAIT_SECONDS, "How long ready runs waited for a worker."),
    commitDuration: histogram("toolwright.store.commit.duration", COMMIT_SECONDS, "How long commits took."),
    unknown: counter("toolwright.calls.unknown", "{call}", "Calls whose outcome became unknown."),
    replays: counter("toolwright.calls.replayed", "{call}", "Calls whose result was stored before."),
    takeovers: counter(
      "toolwright.runs.taken_over",
      "{run}",
      "Runs that were taken over from a dead process.",
    ),
    /** Stops reading the store. */
    stop: observeWaiting(meter, readWaiting, approvalWait),
  };
}

/** Returns a function that stops it. */
function observeWaiting(
  meter: Meter,
  readWaiting: () => Promise<Waiting | undefined>,
  approvalWait: Histogram,
): () => void {
  const gauge = (name: string, unit: string, description: string): ObservableGauge =>
    meter.createObservableGauge(name, { unit, description });
  const pending = gauge("toolwright.approvals.pending", "{request}", "Approval requests without a decision.");
  const oldest = gauge(
    "toolwright.approvals.oldest",
    "s",
    "The age of the oldest approval request without a decision.",
  );
  const queued = gauge("toolwright.queue.size", "{run}", "Enqueued runs that wait for a worker.");
  const oldestQueued = gauge("toolwright.queue.oldest", "s", "How long the oldest of them has waited.");
  const gauges = [pending, oldest, queued, oldestQueued];
  const observe: BatchObservableCallback = async (result) => {
    // A store that does not answer must not fail the export of the other metrics.
    const waiting = await readWaiting().catch(() => undefined);
    if (waiting === undefined) return;
    const { approvals, queue, decided } = waiting;
    result.observe(pending, approvals.count);
    result.observe(oldest, approvals.oldestMs / 1_000);
    result.observe(queued, queue.count);
    result.observe(oldestQueued, queue.oldestMs / 1_000);
    for (const { waitedMs, approved } of decided) recordWait(approvalWait, waitedMs, approved);
  };
  meter.addBatchObservableCallback(observe, gauges);
  return () => meter.removeBatchObservableCallback(observe, gauges);
}

export function recordWait(approvalWait: Histogram, waitedMs: number, approved: boolean): void {
  approvalWait.record(waitedMs / 1_000, { "toolwright.approved": approved });
}

/**
 * Workers on both stores: how soon an enqueued run starts, runs and recorded calls per second, takeovers, and the load of an
 * idle worker. The targets are the goals of the design.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { createRuntime, createWorker, createWorkflows, defineTool } from "toolwright";
import { jsx } from "toolwright/jsx-runtime";
import { z } from "zod";
import type { Row } from "./bench.ts";
import { withPostgres } from "./postgres-server.ts";
import { takeoverRows } from "./worker-takeover.ts";

const PICK_UPS = 40;
const FEW = Number(process.env["BENCH_FEW"] ?? 1_000);
const MANY = Number(process.env["BENCH_MANY"] ?? 10_000);
const IDLE_MS = 20_000;
/** An idle connection reports to the statistics only after 10 s: until then, they lack the worker's start. */
const REPORTED_MS = 12_000;
const CALLING_RUNS = 4;
const CALLS_PER_RUN = 1_000;

const { Workflow, Task, workflow, outputs } = createWorkflows({ output: z.object({ n: z.number() }) });
const tiny = workflow(() =>
  jsx(Workflow, {
    name: "tiny",
    children: jsx(Task, { id: "t", output: outputs.output, children: { n: 1 } }),
  }),
);

/** The median time from the call of `enqueue` to the start of the program. */
async function pickUp(store: string): Promise<number> {
  await using sender = createRuntime({ store });
  await using runtime = createRuntime({ store });
  const started = new Map<string, (ms: number) => void>();
  await using worker = createWorker({
    runtime,
    programs: { probe: ({ runId }) => started.get(runId)?.(performance.now()) },
  });
  await worker.start();
  const times: number[] = [];
  for (let index = 0; index < PICK_UPS; index += 1) {
    const runId = `probe-${index}`;
    const start = new Promise<number>((resolve) => started.set(runId, resolve));
    const from = performance.now();
    await sender.enqueue("probe", { runId });
    times.push((await start) - from);
    await worker.idle();
  }
  return times.sort((one, other) => one - other)[PICK_UPS / 2] ?? Number.NaN;
}

/** Milliseconds per run of a queue of this length. */
async function workOff(store: string, runs: number): Promise<number> {
  await using runtime = createRuntime({ store });
  for (let from = 0; from < runs; from += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        runtime.enqueue("tiny", { runId: `${runs}-${from + index}`, kind: "workflow" }),
      ),
    );
  await using worker = createWorker({ runtime, workflows: { tiny }, concurrency: 16 });
  const from = performance.now();
  await worker.start();
  await worker.idle();
  return (performance.now() - from) / runs;
}

const count = defineTool({
  name: "count",
  schema: z.object({ n: z.number() }),
  sideEffect: true,
  idempotent: false,
  execute: ({ n }, ctx) => ({ n, key: ctx.idempotencyKey }),
});

/** Microseconds per recorded call: programs of a worker make many concurrently. */
async function recordedCalls(store: string): Promise<number> {
  await using runtime = createRuntime({ store });
  await using worker = createWorker({
    runtime,
    programs: {
      calls: ({ runId, signal }) =>
        runtime.run({ runId, signal }, () =>
          Promise.all(Array.from({ length: CALLS_PER_RUN }, (_, n) => count.call({ n }))),
        ),
    },
    concurrency: CALLING_RUNS,
  });
  await worker.start();
  const from = performance.now();
  for (let run = 0; run < CALLING_RUNS; run += 1) await runtime.enqueue("calls", { runId: `calls ${run}` });
  await worker.idle();
  return (1_000 * (performance.now() - from)) / (CALLING_RUNS * CALLS_PER_RUN);
}

/** Statements per second of a worker that has nothing to do, as the server counts them. */
async function idleQueries(address: string): Promise<number> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    await using runtime = createRuntime({ store: address });
    await using worker = createWorker({ runtime, workflows: { tiny } });
    await worker.start();
    await pause(REPORTED_MS);
    const count = async (): Promise<number> => {
      const { rows } = await client.query<{ n: string }>(
        "SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()",
      );
      return Number(rows[0]?.n);
    };
    const before = await count();
    await pause(IDLE_MS);
    return ((await count()) - before - 1) / (IDLE_MS / 1_000);
  } finally {
    await client.end();
  }
}

async function rowsFor(name: string, store: string, pickUpTarget: number): Promise<Row[]> {
  // The first worker of a database installs pg-boss.
  await workOff(store, 100);
  const few = await workOff(store, FEW);
  const many = await workOff(store, MANY);
  return [
    { what: `${name}: pick-up, median`, value: await pickUp(store), unit: "ms", target: pickUpTarget },
    { what: `${name}: one run of ${FEW} in the queue`, value: few, unit: "ms", target: 1_000 / 300 },
    { what: `${name}: one run of ${MANY}`, value: many, unit: "ms", ratio: many / few, target: 1.5 },
    { what: `${name}: one recorded call`, value: await recordedCalls(store), unit: "µs", target: 250 },
    ...(await takeoverRows(name, store)),
  ];
}

export async function benchWorker(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), "toolwright-bench-"));
  try {
    const onFile = await rowsFor("SQLite", join(folder, "store.db"), 150);
    const onServer = await withPostgres(async (address) => {
      // First: after the other sections, the server cleans up for minutes, and counts that too.
      const idle = await idleQueries(address);
      return [
        ...(await rowsFor("PostgreSQL", address, 20)),
        { what: "PostgreSQL: idle, transactions", value: idle, unit: "per s" as const, target: 2 },
      ];
    });
    return [...onFile, ...onServer];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

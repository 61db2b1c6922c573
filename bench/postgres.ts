/** The same calls on a real PostgreSQL server that flushes each commit, with a pool: sequentially, and 64 concurrently. */
import { createRuntime, defineTool } from "toolwright";
import { z } from "zod";
import type { Row } from "./bench.ts";
import { compare } from "./measure.ts";
import { withPostgres } from "./postgres-server.ts";

const order = defineTool({
  name: "order",
  schema: z.object({ index: z.number() }),
  sideEffect: true,
  idempotent: false,
  execute: async ({ index }, ctx) => ({ index, key: ctx.idempotencyKey }),
});

export function benchPostgres(): Promise<Row[]> {
  return withPostgres(measureCalls, { durable: true });
}

async function measureCalls(address: string): Promise<Row[]> {
  await using runtime = createRuntime({ store: address });
  const times = await compare(
    [
      {
        name: "one",
        round: async (from, count) => {
          for (let index = 0; index < count; index += 1) {
            await runtime.call(order, { index: from + index }, { runId: `one ${from}` });
          }
        },
      },
      {
        name: "wide",
        round: async (from, count) => {
          const calls = Array.from({ length: count }, (_, index) =>
            runtime.call(order, { index: from + index }, { runId: `wide ${from}` }),
          );
          await Promise.all(calls);
        },
      },
    ],
    { rounds: 16, count: 64 },
  );
  const one = times.get("one") ?? Number.NaN;
  const wide = times.get("wide") ?? Number.NaN;
  return [
    { what: "PostgreSQL, one call after the other", value: one, unit: "µs" },
    // 5,000 per second.
    { what: "PostgreSQL, 64 calls at once, each", value: wide, unit: "µs", target: 200 },
  ];
}

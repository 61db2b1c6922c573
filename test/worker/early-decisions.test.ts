/** A decision that is made after a program has seen that its call waits, and before the program has ended. */
import { createRuntime, createWorker, defineTool, type ProgramJob, type Runtime } from "toolwright";
import { expect, test } from "vitest";
import { z } from "zod";
import { until } from "../semantics/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const effects = new Map<string, number>();
const pay = defineTool({
  name: "pay",
  schema: z.object({ to: z.string() }),
  sideEffect: true,
  needsApproval: true,
  execute: ({ to }, ctx) => {
    effects.set(to, (effects.get(to) ?? 0) + 1);
    return { paid: to, key: ctx.idempotencyKey };
  },
});

async function approveAll(runtime: Runtime, runId: string): Promise<void> {
  for (const { id } of await runtime.approvals({ runId, status: "pending" }))
    await runtime.resolveToolApproval(id, { approved: true });
}

/** Throws that the call waits, as `execute` does. */
async function throwing({ runId, signal, runtime }: ProgramJob): Promise<void> {
  await runtime.run({ runId, signal }, async () => {
    try {
      await pay.execute({ to: runId });
    } finally {
      await approveAll(runtime, runId);
    }
  });
}

/** Returns while its call waits, as an agent does. */
async function returning({ runId, signal, runtime }: ProgramJob): Promise<void> {
  await runtime.run({ runId, signal }, () => runtime.call(pay, { to: runId }));
  await approveAll(runtime, runId);
}

test.each(STORE_KINDS)(
  "on $name, a program continues after a decision that came before its end",
  async (kind) => {
    effects.clear();
    await using fresh = await kind.fresh();
    await using runtime = createRuntime({ store: fresh.address });
    await using worker = createWorker({ runtime, programs: { throwing, returning } });
    await worker.start();
    await runtime.enqueue("throwing", { runId: "a" });
    await runtime.enqueue("returning", { runId: "b" });
    await until(async () => effects.size === 2);
    await until(async () => (await runtime.runs({ status: "finished" })).runs.length === 2);
    expect(Object.fromEntries(effects)).toEqual({ a: 1, b: 1 });
  },
);

test.each(STORE_KINDS)("on $name, a run that waits is not failed by an early decision", async (kind) => {
  await using fresh = await kind.fresh();
  await using runtime = createRuntime({ store: fresh.address });
  const job = { runId: "c", input: null, signal: new AbortController().signal, runtime };
  await expect(throwing(job)).rejects.toMatchObject({ code: "TOOL_APPROVAL_PENDING" });
  expect((await runtime.describeRun("c")).status).toBe("waiting-approval");
  await throwing(job);
  expect(await runtime.describeRun("c")).toMatchObject({ status: "finished", error: null });
});

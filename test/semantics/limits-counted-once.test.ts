/** A call is counted when its tool starts, and not again when it resumes after a wait. */
import { expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool, type Runtime } from "../../src/index.ts";
import { createMemoryStore } from "../../src/testing/index.ts";

async function approveAll(runtime: Runtime): Promise<void> {
  for (const { id, kind } of await runtime.approvals({ status: "pending" })) {
    await runtime.resolveToolApproval(
      id,
      kind === "replay" ? { resolution: "run-again" } : { approved: true },
    );
  }
}

test("a call that waited for an inner one is counted once", async () => {
  const inner = defineTool({
    name: "inner",
    schema: z.object({}),
    sideEffect: true,
    needsApproval: true,
    execute: (_args, ctx) => ctx.idempotencyKey,
  });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    maxExecutionsPerRun: 1,
    execute: () => inner.execute({}),
  });
  const store = await createMemoryStore();
  await using first = createRuntime({ store });
  expect((await first.call(outer, {}, { runId: "run-1" })).status).toBe("pending");
  await approveAll(first);
  await using resumed = createRuntime({ store });
  expect(await resumed.call(outer, {}, { runId: "run-1" })).toMatchObject({ status: "success" });
});

test("an interrupted call that the approver lets run again is counted twice", async () => {
  const controller = new AbortController();
  let runs = 0;
  const send = defineTool({
    name: "send",
    schema: z.object({}),
    sideEffect: true,
    maxExecutionsPerRun: 2,
    execute: (_args) => {
      runs += 1;
      if (runs > 1) return "sent";
      controller.abort();
      throw new Error("cut off");
    },
  });
  const store = await createMemoryStore();
  await using first = createRuntime({ store });
  await first.call(send, {}, { runId: "run-1", signal: controller.signal });
  await using second = createRuntime({ store });
  expect((await second.call(send, {}, { runId: "run-1" })).status).toBe("pending");
  await approveAll(second);
  await using third = createRuntime({ store });
  expect(await third.call(send, {}, { runId: "run-1" })).toMatchObject({ status: "success", output: "sent" });
  expect(await third.call(send, {}, { runId: "run-1" })).toMatchObject({
    error: { code: "TOOL_LIMIT_EXCEEDED" },
  });
});

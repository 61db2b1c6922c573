/** A runtime whose store failed abandons a call, in a process that keeps running. */
import { expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool, ToolwrightError, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/testing/index.ts";

/** Commits the first intent but reports a failure, like a server whose response is lost; then it is unreachable. */
function failAfterIntent(store: Store): Store {
  let hasFailed = false;
  const failure = (): ToolwrightError => new ToolwrightError("TOOL_STORE_FAILED", "The connection is lost.");
  return {
    dialect: store.dialect,
    secret: store.secret,
    read: (work) => (hasFailed ? Promise.reject(failure()) : store.read(work)),
    transaction: async (work, level) => {
      if (hasFailed) throw failure();
      const result = await store.transaction(work, level);
      // Only the intent of a call that must not happen twice is committed at this level.
      hasFailed = level === "full";
      if (hasFailed) throw failure();
      return result;
    },
    close: () => Promise.resolve(),
  };
}

test("a call that a disposed runtime of this process abandoned runs again without a wait", async () => {
  let placed = 0;
  const order = defineTool({
    name: "order",
    schema: z.object({}),
    sideEffect: true,
    execute: (_args, ctx) => ({ number: (placed += 1), key: ctx.idempotencyKey }),
  });
  const store = await createMemoryStore();
  const broken = createRuntime({ store: failAfterIntent(store) });
  await expect(broken.call(order, {}, { runId: "run-1" })).rejects.toMatchObject({
    code: "TOOL_STORE_FAILED",
  });
  // It cannot store that it ended, either.
  await Promise.allSettled([broken[Symbol.asyncDispose]()]);
  await using resumed = createRuntime({ store });
  expect(await resumed.call(order, {}, { runId: "run-1" })).toMatchObject({ status: "success" });
  expect(placed).toBe(1);
});

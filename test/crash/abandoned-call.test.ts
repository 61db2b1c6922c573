/** A runtime whose store failed leaves a call behind, in a process that lives on. */
import { expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool, ToolwrightError, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/testing/index.ts";

/** Commits the first intent, as a server does whose answer is lost on the way, and says that it failed; then it is gone. */
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
      // Only the intent of what must not happen twice is committed so hard.
      hasFailed = level === "full";
      if (hasFailed) throw failure();
      return result;
    },
    close: () => Promise.resolve(),
  };
}

test("a call that a disposed runtime of this process left behind is made again, not waited for", async () => {
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
  // It cannot write that it ended, either.
  await Promise.allSettled([broken[Symbol.asyncDispose]()]);
  await using resumed = createRuntime({ store });
  expect(await resumed.call(order, {}, { runId: "run-1" })).toMatchObject({ status: "success" });
  expect(placed).toBe(1);
});

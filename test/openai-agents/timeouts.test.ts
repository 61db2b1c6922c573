/** The SDK's own timeout of a tool: the loop continues, and the model reads the same as after our timeout. */
import { createRuntime, defineTool } from "toolwright";
import { toOpenAIAgentTool } from "toolwright/openai-agents";
import { expect, test } from "vitest";
import { z } from "zod";
import { answersIn, calls, runner, say, script } from "./harness.ts";

function createSlowPay() {
  let paid = 0;
  const { promise, resolve } = Promise.withResolvers<string>();
  const pay = defineTool({
    name: "pay",
    schema: z.object({}),
    sideEffect: true,
    acceptsIdempotencyKey: false,
    execute: (_args, ctx) => {
      void ctx.log;
      paid += 1;
      return promise;
    },
  });
  return { pay: toOpenAIAgentTool(pay), paid: () => paid, finish: () => resolve("paid") };
}

test("a copy with timeoutMs of the SDK: the model reads our timeout, and an equal call does not repeat the effect", async () => {
  const { pay, paid, finish } = createSlowPay();
  await using runtime = createRuntime({ store: ":memory:" });
  const { agent, model } = script(
    [{ ...pay, timeoutMs: 500 } as typeof pay],
    calls(["pay", {}, "id-1"]),
    calls(["pay", {}, "id-2"]),
    say("done"),
  );
  const result = await runtime.run({ runId: "r" }, () => runner.run(agent, "Pay."));
  expect(result.finalOutput).toBe("done");
  finish();
  expect(paid()).toBe(1);
  const [first, second] = answersIn(model.lastCall?.request).map(([, text]) => JSON.parse(text) as object);
  expect(first).toMatchObject({
    error_type: "timeout",
    message: 'Tool "pay" timed out after 500 ms.',
    next_action_hint: expect.stringContaining("check whether the effect has happened"),
  });
  expect(second).toMatchObject({ is_error: true, message: expect.stringContaining("timed out") });
  expect(await runtime.calls({ runId: "r" })).toHaveLength(1);
});

test("timeoutMs is not an option of the adapter: the tool has its own", () => {
  const pay = defineTool({ name: "pay", schema: z.object({}), execute: () => "paid" });
  expect(() => toOpenAIAgentTool(pay, { timeoutMs: 20 } as object)).toThrow(/timeoutMs/);
});

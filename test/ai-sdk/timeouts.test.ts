/** The AI SDK's own timeout of a tool: the loop continues, and the model reads the same as after our timeout. */
import { generateText, isStepCount, streamText } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool } from "../../src/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";

function createSlowPay() {
  let paid = 0;
  const { promise, resolve } = Promise.withResolvers<string>();
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    acceptsIdempotencyKey: false,
    execute: (_args, ctx) => {
      void ctx.log;
      paid += 1;
      return promise;
    },
  });
  return { pay, paid: () => paid, finish: () => resolve("paid") };
}

const call = (toolCallId: string) => [{ toolName: "pay", input: { amount: 1 }, toolCallId }];

test.each(["generateText", "streamText"])("%s with toolMs: the model reads a timeout", async (way) => {
  const { pay, paid, finish } = createSlowPay();
  await using runtime = createRuntime({ store: ":memory:" });
  const model = createScriptedModel([call("id-1"), "done"]);
  const options = {
    model,
    tools: { pay },
    prompt: "Pay.",
    stopWhen: isStepCount(3),
    timeout: { toolMs: 30 },
  };
  const text = await runtime.run({ runId: "r" }, async () => {
    if (way === "generateText") return (await generateText(options)).text;
    const result = streamText(options);
    await result.consumeStream();
    return result.text;
  });
  finish();
  expect(text).toBe("done");
  expect(paid()).toBe(1);
  expect(JSON.parse(String(model.requests[1]?.toolResults[0]?.output))).toMatchObject({
    is_error: true,
    error_type: "timeout",
    message: expect.stringMatching(/^Tool "pay" timed out after \d+ ms\.$/),
    next_action_hint: expect.stringContaining("check whether the effect has happened"),
  });
});

test("a second equal call does not repeat an effect that may have happened", async () => {
  const { pay, paid, finish } = createSlowPay();
  await using runtime = createRuntime({ store: ":memory:" });
  const model = createScriptedModel([call("id-1"), call("id-2"), "done"]);
  await runtime.run({ runId: "r" }, () =>
    generateText({
      model,
      tools: { pay },
      prompt: "Pay.",
      stopWhen: isStepCount(4),
      timeout: { toolMs: 30 },
    }),
  );
  finish();
  expect(paid()).toBe(1);
  expect(await runtime.calls({ runId: "r" })).toHaveLength(1);
});

test("an idempotent tool is run again", async () => {
  let runs = 0;
  const read = defineTool({
    name: "read",
    schema: z.object({}),
    execute: (_args, ctx) =>
      (runs += 1) > 1
        ? "read"
        : new Promise<string>((_resolve, reject) => {
            ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error));
          }),
  });
  await using runtime = createRuntime({ store: ":memory:" });
  const turn = (toolCallId: string) => [{ toolName: "read", input: {}, toolCallId }];
  const model = createScriptedModel([turn("id-1"), turn("id-2"), "done"]);
  await runtime.run({ runId: "r" }, () =>
    generateText({ model, tools: { read }, prompt: "?", stopWhen: isStepCount(4), timeout: { toolMs: 30 } }),
  );
  expect(model.requests[2]?.toolResults.at(-1)?.output).toBe("read");
});

test("a tool that may repeat, and stays slow, is never answered as if the run had stopped", async () => {
  const settled = Promise.withResolvers<string>();
  const read = defineTool({ name: "read", schema: z.object({}), execute: () => settled.promise });
  await using runtime = createRuntime({ store: ":memory:" });
  const turn = (toolCallId: string) => [{ toolName: "read", input: {}, toolCallId }];
  const model = createScriptedModel([turn("id-1"), turn("id-2"), turn("id-3"), "done"]);
  const { text } = await runtime.run({ runId: "r" }, () =>
    generateText({ model, tools: { read }, prompt: "?", stopWhen: isStepCount(5), timeout: { toolMs: 30 } }),
  );
  settled.resolve("read");
  expect(text).toBe("done");
  const answers = model.requests.slice(1).map(({ toolResults }) => String(toolResults.at(-1)?.output));
  expect(answers.map((answer) => (JSON.parse(answer) as { error_type: string }).error_type)).toEqual([
    "timeout",
    "timeout",
    "timeout",
  ]);
});

test("a call that waits for a slot when the loop's timeout comes has timed out", async () => {
  const settled = Promise.withResolvers<string>();
  const read = defineTool({
    name: "read",
    schema: z.object({ n: z.number() }),
    execute: () => settled.promise,
  });
  await using runtime = createRuntime({ store: ":memory:", limits: { maxParallelTools: 1 } });
  const calls = [1, 2].map((n) => ({ toolName: "read", input: { n } }));
  const model = createScriptedModel([calls, "done"]);
  await runtime.run({ runId: "r" }, () =>
    generateText({ model, tools: { read }, prompt: "?", stopWhen: isStepCount(3), timeout: { toolMs: 30 } }),
  );
  settled.resolve("read");
  const answers = model.requests[1]?.toolResults.map(({ output }) => String(output)) ?? [];
  expect(answers).toHaveLength(2);
  for (const answer of answers) expect(JSON.parse(answer)).toMatchObject({ error_type: "timeout" });
});

/** The AI SDK validates calls and histories with a tool's schemas; the errors and the log are still ours. */
import {
  generateText,
  isStepCount,
  safeValidateUIMessages,
  streamText,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool } from "../../src/index.ts";
import { toAISDKTools } from "../../src/adapters/ai-sdk/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { createPay } from "../loop-tools.ts";

const quote = defineTool({
  name: "quote",
  schema: z.object({ sku: z.string().min(1) }).refine(({ sku }) => sku !== "none", "there is no such thing"),
  outputSchema: z.object({ price: z.number().positive() }),
  execute: () => ({ price: 3 }),
});

function history(part: Record<string, unknown>): UIMessage[] {
  const parts = [{ type: "tool-quote", toolCallId: "id-1", state: "output-available", ...part }];
  return [{ id: "m1", role: "assistant", parts: parts as UIMessage["parts"] }];
}

describe("validateUIMessages", () => {
  const check = async (part: Record<string, unknown>, tools = { quote }): Promise<string> => {
    const result = await safeValidateUIMessages({ messages: history(part), tools });
    return result.success ? "valid" : result.error.message;
  };

  test("accepts valid inputs and outputs", async () => {
    expect(await check({ input: { sku: "a" }, output: { price: 3 } })).toBe("valid");
    expect(
      await validateUIMessages({
        messages: history({ input: { sku: "a" }, output: { price: 3 } }),
        tools: { quote },
      }),
    ).toHaveLength(1);
  });

  test("refuses a forged input with our error", async () => {
    for (const input of [{ sku: "" }, { sku: 3 }, { sku: "none" }, "a"]) {
      const message = await check({ input, output: { price: 3 } });
      expect(message).toContain("input_invalid");
      expect(message).toContain("id-1");
    }
  });

  test("refuses a forged output with our error", async () => {
    for (const output of [{ price: -3 }, { price: "3" }, {}, null, "3"]) {
      const message = await check({ input: { sku: "a" }, output });
      expect(message).toContain("output_invalid");
      // Nothing was called, so nothing has happened.
      expect(message).not.toContain("has happened");
    }
  });

  test("does not warn about an effect outside of a run when it only validates", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const unlogged = defineTool({
      name: "validated-only",
      schema: z.object({ sku: z.string() }),
      sideEffect: true,
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    const tools = { quote: unlogged } as unknown as { quote: typeof quote };
    expect(await check({ input: { sku: 3 }, output: "x" }, tools)).toContain("input_invalid");
    expect(warn).not.toHaveBeenCalled();
    await unlogged.call({ sku: "a" });
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('tool "validated-only"'));
  });

  test("validates tools that are offered with another schema", async () => {
    const pick = defineTool({ name: "quote", schema: z.union([z.string(), z.int()]), execute: () => 1 });
    const tools = toAISDKTools([pick]) as unknown as { quote: typeof quote };
    expect(await check({ input: { input: 7 }, output: 1 }, tools)).toBe("valid");
    expect(await check({ input: { input: true }, output: 1 }, tools)).toContain("input_invalid");
  });

  test("accepts outputs in their JSON form: dates as text, values after a transform", async () => {
    const made = defineTool({
      name: "quote",
      schema: z.object({}),
      outputSchema: z.object({ at: z.date(), cents: z.number().transform((euros) => `${euros} euros`) }),
      execute: () => ({ at: new Date(0), cents: 3 }),
    });
    const tools = { quote: made } as unknown as { quote: typeof quote };
    const output: unknown = JSON.parse(JSON.stringify(await made.execute({})));
    expect(await check({ input: {}, output }, tools)).toBe("valid");
    expect(await check({ input: {}, output: { at: 3, cents: "3 euros" } }, tools)).toContain(
      "output_invalid",
    );
  });
});

describe("invalid input", () => {
  const BAD = [{ toolName: "pay", input: { amount: -1 }, toolCallId: "id-1" }];

  test("is repaired by repairToolCall, and the repaired call runs", async () => {
    const { pay, paid } = createPay();
    await using runtime = createRuntime({ store: ":memory:" });
    const seen: string[] = [];
    await runtime.run({ runId: "r" }, () =>
      generateText({
        model: createScriptedModel([BAD, "done"]),
        tools: { pay },
        prompt: "Pay.",
        stopWhen: isStepCount(3),
        repairToolCall: async ({ toolCall, error }) => {
          seen.push(error.message);
          return { ...toolCall, input: JSON.stringify({ amount: 5 }) };
        },
      }),
    );
    expect(paid).toEqual([5]);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain("input_invalid");
    const rows = await runtime.calls({ runId: "r" });
    expect(rows.map(({ status, inputJson }) => [status, inputJson])).toEqual([
      ["error", '{"amount":-1}'],
      ["success", '{"amount":5}'],
    ]);
  });

  test.each(["generateText", "streamText"])("is logged and answered with our error in %s", async (way) => {
    const { pay, paid } = createPay();
    await using runtime = createRuntime({ store: ":memory:" });
    const model = createScriptedModel([BAD, "sorry"]);
    const options = { model, tools: { pay }, prompt: "Pay.", stopWhen: isStepCount(3) };
    await runtime.run({ runId: "r" }, async () => {
      if (way === "generateText") await generateText(options);
      else await streamText(options).consumeStream();
    });
    expect(paid).toEqual([]);
    const told = String(model.requests[1]?.toolResults[0]?.output);
    expect(JSON.parse(told.slice(told.indexOf("{")))).toMatchObject({
      is_error: true,
      error_type: "input_invalid",
      message: expect.stringContaining("amount"),
    });
    expect(await runtime.calls({ runId: "r" })).toMatchObject([
      { status: "error", inputJson: '{"amount":-1}', tries: 0 },
    ]);
  });

  test("is answered with our error outside any run too", async () => {
    const { pay } = createPay();
    const model = createScriptedModel([BAD, "sorry"]);
    await generateText({ model, tools: { pay }, prompt: "Pay.", stopWhen: isStepCount(3) });
    expect(String(model.requests[1]?.toolResults[0]?.output)).toContain("input_invalid");
  });
});

test("an error of a tool reaches the model as JSON and nothing else", async () => {
  const broken = defineTool({
    name: "broken",
    schema: z.object({}),
    execute: () => {
      throw new Error("out of order");
    },
  });
  const model = createScriptedModel([[{ toolName: "broken", input: {} }], "sorry"]);
  await generateText({ model, tools: { broken }, prompt: "?", stopWhen: isStepCount(3) });
  expect(JSON.parse(String(model.requests[1]?.toolResults[0]?.output))).toMatchObject({ is_error: true });
});

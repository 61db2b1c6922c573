/** Tools are compatible with the AI SDK's types without a cast. */
import {
  type InferToolInput,
  type InferToolOutput,
  type LanguageModel,
  ToolLoopAgent,
  type ToolSet,
} from "ai";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createTool, defineTool, fromTool } from "../../src/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";

const add = defineTool({
  name: "add",
  schema: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }) => a + b,
});
const find = createTool({
  name: "find",
  schema: z.object({ text: z.string() }),
  outputSchema: z.object({ found: z.boolean() }),
  func: ({ text }) => ({ found: text !== "" }),
});

test("defined tools are a ToolSet", () => {
  expectTypeOf({ add, find }).toExtend<ToolSet>();
  expectTypeOf({ foreign: fromTool(add) }).toExtend<ToolSet>();
});

test("a ToolLoopAgent accepts them, with a scripted model", () => {
  expectTypeOf(createScriptedModel([])).toExtend<LanguageModel>();
  const agent = new ToolLoopAgent({ model: createScriptedModel([]), tools: { add, find } });
  expectTypeOf(agent.tools).toEqualTypeOf<{ add: typeof add; find: typeof find }>();
});

test("inputs and outputs have the types of the schemas", () => {
  expectTypeOf<InferToolInput<typeof add>>().toEqualTypeOf<{ a: number; b?: number | undefined }>();
  expectTypeOf<InferToolOutput<typeof add>>().toEqualTypeOf<number>();
  expectTypeOf<InferToolInput<typeof find>>().toEqualTypeOf<{ text: string }>();
  expectTypeOf<InferToolOutput<typeof find>>().toEqualTypeOf<{ found: boolean }>();
});

/** One definition, every consumer: the same result, the same error for invalid input, and a logged call for each. */
import Anthropic from "@anthropic-ai/sdk";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { generateText, isStepCount } from "ai";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  createRuntime,
  defineTool,
  type Runtime,
  runAgentLoop,
  runWorkflow,
  createSmithers,
  ToolwrightError,
} from "toolwright";
import { createMcpServer } from "toolwright/mcp";
import { createScriptedAnthropic, createScriptedModel } from "toolwright/testing";
import { jsx } from "toolwright/jsx-runtime";
import { resultsIn } from "./anthropic/harness.ts";
import { run } from "./commander/program.ts";

const convert = defineTool({
  name: "money_convert",
  description: "Converts euros",
  group: "money",
  schema: z.object({ euros: z.number().positive(), to: z.enum(["usd", "chf"]).default("chf") }),
  outputSchema: z.object({ amount: z.number(), currency: z.string() }),
  execute: ({ euros, to }) => ({ amount: euros * 2, currency: to }),
});

const RESULT = { amount: 14, currency: "chf" };

let runtime: Runtime;
beforeEach(() => {
  runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
});

/** The value that each consumer receives: the result, or the error for invalid input. */
const CONSUMERS: Readonly<Record<string, (input: unknown) => Promise<unknown>>> = {
  "a direct call": async (input) => {
    const outcome = await runtime.call(convert, input as never, { runId: "direct" });
    return outcome.status === "success"
      ? outcome.output
      : outcome.status === "error" && modelErrorOf(outcome.error);
  },
  "the AI SDK": async (input) => {
    const model = createScriptedModel([[{ toolName: "money_convert", input }], "Done."]);
    await runtime.run({ runId: "ai-sdk" }, () =>
      generateText({ model, tools: { money_convert: convert }, prompt: "?", stopWhen: isStepCount(3) }),
    );
    const [result] = model.requests[1]?.toolResults ?? [];
    return parsed(result?.output);
  },
  "the Anthropic SDK": async (input) => {
    const server = await createScriptedAnthropic([[{ toolName: "money_convert", input }], "Done."]);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const client = new Anthropic({ baseURL: server.baseURL, apiKey: "any" });
    const messages = [{ role: "user" as const, content: "?" }];
    await runAgentLoop({ client, model: "m", messages, tools: [convert], runtime, runId: "anthropic" });
    const [result] = resultsIn(server.requests[1]?.body.messages.at(-1));
    return parsed(result?.["content"]);
  },
  MCP: async (input) => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await createMcpServer({ tools: [convert], runtime }).connect(far);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(near);
    const result = await client.callTool({ name: "money_convert", arguments: input as never });
    await client.close();
    return result.structuredContent ?? parsed((result.content as { text: string }[])[0]?.text);
  },
  "the command line": async (input) => {
    const argv = ["money", "convert", "--input", JSON.stringify(input), "--json"];
    return (await run([convert], argv, { runtime })).json();
  },
  "a workflow": async (input) => {
    const { Workflow, Task, smithers, outputs } = createSmithers({ result: z.unknown() });
    const work = () => convert.execute(input as never).catch((error: unknown) => modelErrorOf(error));
    const workflow = smithers(() =>
      jsx(Workflow, { name: "w", children: jsx(Task, { id: "t", output: outputs.result, children: work }) }),
    );
    return (await runWorkflow(workflow, { runtime, runId: "workflow" })).output;
  },
};

function modelErrorOf(error: unknown): unknown {
  return ToolwrightError.is(error) ? JSON.parse(JSON.stringify(error.toModel())) : error;
}

/** For input that the AI SDK itself refuses, its own error text surrounds ours. */
function parsed(text: unknown): unknown {
  return typeof text === "string" ? (JSON.parse(text.slice(text.indexOf("{"))) as unknown) : text;
}

test.each(Object.keys(CONSUMERS))("%s gets the same result, with the default filled in", async (name) => {
  expect(await CONSUMERS[name]?.({ euros: 7 })).toEqual(RESULT);
  expect(await runtime.calls()).toMatchObject([
    { toolName: "money_convert", status: "success", outputJson: JSON.stringify(RESULT) },
  ]);
});

test("each consumer receives the same error for invalid input, and each call is logged", async () => {
  const errors: unknown[] = [];
  for (const consumer of Object.values(CONSUMERS)) errors.push(await consumer({ euros: -7, to: "yen" }));
  const [first] = errors;
  expect(first).toMatchObject({ is_error: true, error_type: "input_invalid" });
  expect(errors).toEqual(errors.map(() => first));
  const rows = await runtime.calls();
  expect(rows.map(({ status }) => status)).toEqual(errors.map(() => "error"));
  expect(new Set(rows.map(({ errorJson }) => errorJson)).size).toBe(1);
});

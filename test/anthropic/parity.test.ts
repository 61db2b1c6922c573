/** The same program with the SDK's own tools in its tool runner, with ours in it, and with ours in our loop. */
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool, fromTool, runAgentLoop } from "toolwright";
import { toAnthropicRunnableTool } from "toolwright/anthropic";
import type { AnthropicTurn } from "toolwright/testing";
import { call, serve, user } from "./harness.ts";

const model = "claude-test";
const png = "iVBORw0KGgo=";

interface Definition {
  readonly name: string;
  readonly schema: z.ZodObject;
  readonly work: (args: Record<string, unknown>) => unknown;
}

const plainTool = ({ name, schema, work }: Definition): BetaRunnableTool<never> =>
  betaZodTool({ name, description: name, inputSchema: schema, run: work as never }) as never;
const ownTool = ({ name, schema, work }: Definition) =>
  defineTool({ name, description: name, schema, execute: (args) => work(args) });

interface Program {
  readonly tools: readonly Definition[];
  readonly script: readonly AnthropicTurn[];
  readonly stream?: boolean;
  readonly params?: object;
}

/** The messages of the last request. */
async function shownBy(
  { script }: Program,
  run: (client: Awaited<ReturnType<typeof serve>>["client"]) => Promise<unknown>,
): Promise<unknown> {
  const { server, client } = await serve(script);
  await run(client);
  expect(server.refused).toEqual([]);
  expect(server.requests).toHaveLength(script.length);
  return (server.requests.at(-1)?.body.messages ?? []).map(({ role, content }) => ({
    role,
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  }));
}

const messages: MessageParam[] = [user("Go.")];

/** @returns the messages, which are the same for all of them */
async function beside(program: Program): Promise<{ role: string; content: Record<string, unknown>[] }[]> {
  const { tools, stream = false, params = {} } = program;
  const runWith = (runnable: readonly BetaRunnableTool<never>[]) =>
    shownBy(program, async (client) => {
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens: 1024,
        messages: [...messages] as never,
        thread: false,
        tools: [...runnable],
        stream,
        ...params,
      } as never);
      await (runner as unknown as { runUntilDone(): Promise<unknown> }).runUntilDone();
    });
  const expected = await runWith(tools.map(plainTool));
  await using runtime = createRuntime({ store: ":memory:" });
  const inRunner = await runtime.run({ runId: "runner" }, () =>
    runWith(tools.map((tool) => toAnthropicRunnableTool(ownTool(tool)) as never)),
  );
  expect(inRunner).toEqual(expected);
  for (const [runId, made] of [
    ["own", tools.map(ownTool)],
    ["foreign", tools.map((tool) => fromTool(plainTool(tool)))],
  ] as const) {
    const inLoop = await shownBy(program, (client) =>
      runAgentLoop({ client, model, messages, tools: made, runtime, runId, stream, maxTokens: 1024, params }),
    );
    expect(inLoop).toEqual(expected);
    expect((await runtime.calls({ runId })).length).toBeGreaterThan(0);
  }
  return expected as never;
}

const weather: Definition = {
  name: "weather",
  schema: z.object({ city: z.string() }),
  work: ({ city }) => `sunny in ${String(city)}`,
};

test.each([false, true])("text, and several calls of one response (stream: %s)", async (stream) => {
  const shown = await beside({
    tools: [weather],
    stream,
    script: [
      {
        text: "I look.",
        toolCalls: [call("weather", { city: "Bern" }, "1"), call("weather", { city: "Chur" }, "2")],
      },
      [call("weather", { city: "Genf" }, "3")],
      "Sunny.",
    ],
  });
  expect(shown[2]?.content).toEqual([
    { type: "tool_result", tool_use_id: "1", content: "sunny in Bern" },
    { type: "tool_result", tool_use_id: "2", content: "sunny in Chur" },
  ]);
});

test.each([false, true])(
  "thinking, signatures, citations and tools of the API are sent back unchanged (stream: %s)",
  async (stream) => {
    const cited = {
      type: "text",
      text: "Apples are red.",
      citations: [
        {
          type: "char_location",
          cited_text: "red",
          document_index: 0,
          document_title: null,
          start_char_index: 0,
          end_char_index: 3,
          file_id: null,
        },
      ],
    };
    const content = [
      { type: "thinking", thinking: "Let me see", signature: "sig-1" },
      { type: "redacted_thinking", data: "xyz" },
      {
        type: "server_tool_use",
        id: "s",
        name: "web_search",
        input: { query: "apples" },
        caller: { type: "direct" },
      },
      { type: "web_search_tool_result", tool_use_id: "s", content: [], caller: { type: "direct" } },
      // A stream brings citations in pieces, which the scripted server does not.
      ...(stream ? [] : [cited]),
      {
        type: "tool_use",
        id: "1",
        name: "weather",
        inputJson: '{"city":"Bern"}',
        caller: { type: "direct" },
      },
    ];
    const shown = await beside({
      tools: [weather],
      stream,
      params: { thinking: { type: "enabled", budget_tokens: 1024 } },
      script: [{ content }, "Done."],
    });
    expect(shown[1]?.content).toHaveLength(content.length);
  },
);

test("images in a result stay images", async () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };
  const shown = await beside({
    tools: [{ name: "chart", schema: z.object({}), work: () => [{ type: "text", text: "a chart" }, image] }],
    script: [[call("chart", {}, "1")], "Nice."],
  });
  expect(shown[2]?.content).toEqual([
    { type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "a chart" }, image] },
  ]);
});

test("the schema and the description reach the API alike", async () => {
  const definition: Definition = {
    name: "book",
    schema: z.object({
      city: z.string().describe("where"),
      nights: z.number().int().min(1),
      vip: z.boolean().optional(),
    }),
    work: () => "ok",
  };
  const {
    $schema: _schema,
    additionalProperties: _more,
    ...plain
  } = (plainTool(definition) as { input_schema: Record<string, unknown> }).input_schema;
  const {
    additionalProperties: _other,
    $schema: _own,
    ...own
  } = (toAnthropicRunnableTool(ownTool(definition)) as { input_schema: Record<string, unknown> })
    .input_schema;
  expect(own).toEqual(plain);
});

test("failures are error results in both, ours in the standard shape, and the loop continues", async () => {
  const fails: Definition = {
    name: "fails",
    schema: z.object({ n: z.number() }),
    work: () => {
      throw new Error("the shop is closed");
    },
  };
  const script = [[call("fails", { n: 1 }, "1"), call("fails", { n: "x" }, "2")], "Sorry."];
  const results = async (tool: BetaRunnableTool<never>) => {
    const { server, client } = await serve(script);
    await client.beta.messages
      .toolRunner({ model, max_tokens: 10, messages: [...messages] as never, thread: false, tools: [tool] })
      .runUntilDone();
    return (server.requests[1]?.body.messages[2]?.content ?? []) as { is_error?: boolean; content: string }[];
  };
  const plain = await results(plainTool(fails));
  const own = await results(toAnthropicRunnableTool(ownTool(fails)) as never);
  expect(own.map(({ is_error }) => is_error)).toEqual(plain.map(({ is_error }) => is_error));
  expect(own.map(({ content }) => JSON.parse(content) as unknown)).toMatchObject([
    {
      is_error: true,
      error_type: "execution_failed",
      message: expect.stringContaining("the shop is closed"),
    },
    { is_error: true, error_type: "input_invalid" },
  ]);
});

test("a runner that is started again with the same run id repeats no effect", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const paid: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    execute: ({ amount }, ctx) => (paid.push(ctx.idempotencyKey), `paid ${amount}`),
  });
  for (let times = 0; times < 2; times += 1) {
    const { client } = await serve([[call("pay", { amount: 1 })], "Done."]);
    await runtime.run({ runId: "r" }, () =>
      client.beta.messages
        .toolRunner({
          model,
          max_tokens: 10,
          messages: [...messages] as never,
          thread: false,
          tools: [toAnthropicRunnableTool(pay) as never],
        })
        .runUntilDone(),
    );
  }
  expect(paid).toHaveLength(1);
});

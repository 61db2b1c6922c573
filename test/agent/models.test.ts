import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AgentState, createSmartAgent, defineTool, type SmartAgentOptions } from "toolwright";
import { ask, call, createAgent, createOrders, createWorld, openRuntime, user } from "./harness.ts";
import { createScriptedModel } from "toolwright/testing";

type Message = Readonly<Record<string, unknown>>;

/** In the shape of LangChain's chat models. */
class ChatModel {
  readonly modelName = "chat-1";
  readonly seen: { messages: Message[]; tools: unknown[]; options: unknown; toolChoice: unknown }[] = [];
  readonly #answers: unknown[];
  readonly #tools: readonly unknown[];
  readonly #toolChoice: unknown;
  readonly #root: ChatModel;

  constructor(answers: unknown[], tools: readonly unknown[] = [], toolChoice?: unknown, root?: ChatModel) {
    this.#answers = answers;
    this.#tools = tools;
    this.#toolChoice = toolChoice;
    this.#root = root ?? this;
  }

  bindTools(tools: readonly unknown[], options: { tool_choice?: unknown } = {}): ChatModel {
    return new ChatModel(this.#answers, tools, options.tool_choice, this.#root);
  }

  async invoke(messages: Message[], options: unknown): Promise<unknown> {
    this.#root.seen.push({ messages, tools: [...this.#tools], options, toolChoice: this.#toolChoice });
    return this.#answers.shift();
  }
}

async function agentOn(model: unknown, options: Partial<SmartAgentOptions> = {}) {
  const world = await createWorld();
  const runtime = await openRuntime(world);
  return createSmartAgent({ model, runtime, ...options });
}

describe("models with invoke(messages)", () => {
  it("receive the tools and the results of their calls, and their usage is counted", async () => {
    const { placed, order } = createOrders();
    const model = new ChatModel([
      {
        content: "",
        tool_calls: [{ id: "c1", name: "order", args: { sku: "apple" }, type: "tool_call" }],
        invalid_tool_calls: [{ id: "c2", name: "order", args: "{broken", error: "bad" }],
        usage_metadata: { input_tokens: 11, output_tokens: 7, input_token_details: { cache_read: 3 } },
      },
      { content: [{ type: "text", text: "Ordered." }], response_metadata: { finish_reason: "stop" } },
    ]);
    const agent = await agentOn(model, { tools: [order], systemPrompt: "Be kind." });
    const result = await agent.invoke(ask("Order."));
    expect(result.content).toBe("Ordered.");
    expect(placed).toEqual(["apple"]);
    expect(result.metadata.usage).toMatchObject({
      requests: 2,
      inputTokens: 11,
      outputTokens: 7,
      cachedInputTokens: 3,
    });
    const [first, second] = model.seen;
    expect(first?.tools).toMatchObject([
      {
        type: "function",
        function: {
          name: "order",
          parameters: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
        },
      },
      { function: { name: "manage_todo_list" } },
      { function: { name: "get_tool_response" } },
    ]);
    expect(first?.messages[0]).toMatchObject({
      role: "system",
      content: expect.stringContaining("Be kind.") as string,
    });
    expect(second?.messages.slice(2)).toMatchObject([
      {
        role: "assistant",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "order", arguments: '{"sku":"apple"}' } },
          { id: "c2" },
        ],
      },
      { role: "tool", tool_call_id: "c1", name: "order", content: '{"order":1,"sku":"apple"}' },
      { role: "tool", tool_call_id: "c2", content: expect.stringContaining("not valid JSON") as string },
    ]);
    expect(Object.keys(second?.messages[3] ?? {})).not.toContain("executionId");
  });

  it("may be plain objects that return text or OpenAI's shape, and must call response when a budget is spent", async () => {
    const agent = await agentOn({ invoke: async () => "Hello." });
    expect((await agent.invoke(ask("Hi."))).content).toBe("Hello.");
    const { order, placed } = createOrders();
    const model = new ChatModel([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "x", type: "function", function: { name: "order", arguments: '{"sku":"pear"}' } }],
      },
      { content: "", tool_calls: [{ name: "response", args: { n: 1 } }] },
    ]);
    const limited = await agentOn(model, {
      tools: [order],
      limits: { maxToolCalls: 1 },
      outputSchema: z.object({ n: z.number() }),
    });
    expect((await limited.invoke(ask("Order."))).output).toEqual({ n: 1 });
    expect(placed).toEqual(["pear"]);
    expect(model.seen[1]).toMatchObject({
      toolChoice: "required",
      tools: [{ function: { name: "response" } }],
    });
  });

  it("get calls in their content back unchanged, without values that must not be stored", async () => {
    const login = defineTool({
      name: "login",
      schema: z.object({ user: z.string(), password: z.string() }),
      redact: { input: ["password"] },
      execute: () => "in",
    });
    const args = { user: "ann", password: "hunter2" };
    const thought = { type: "thinking", thinking: "Hm.", signature: "sig-1" };
    const block = { type: "tool_use", id: "c1", name: "login", input: args };
    const model = new ChatModel([
      {
        content: [thought, { type: "text", text: "I log in." }, block],
        tool_calls: [{ id: "c1", name: "login", args }],
      },
      "I am in.",
      "Still in.",
    ]);
    const agent = await agentOn(model, { tools: [login] });
    const { state } = await agent.invoke(ask("Log in."));
    expect(model.seen[1]?.messages[2]?.["content"]).toEqual([
      thought,
      { type: "text", text: "I log in." },
      block,
    ]);
    expect(JSON.stringify(state)).not.toContain("hunter2");
    await agent.invoke({ ...state, messages: [...state.messages, user("And now?")] });
    expect(model.seen[2]?.messages[2]?.["content"]).toMatchObject([
      thought,
      { type: "text" },
      { ...block, input: { user: "ann", password: expect.stringContaining("[redacted") as string } },
    ]);
  });

  it("a response that is not a message is a failure of the model", async () => {
    const agent = await agentOn({ invoke: async () => 7 });
    await expect(agent.invoke(ask("Hi."))).rejects.toMatchObject({ code: "TOOL_MODEL_FAILED" });
  });
});

describe("AI SDK models", () => {
  it("get their reasoning and metadata back unchanged, in this invoke, after a crash and in the next", async () => {
    const world = await createWorld();
    const { order } = createOrders();
    const signature = { anthropic: { signature: "sig-1" } };
    const prompts: unknown[][] = [];
    const modelOf = (...answers: unknown[]) => ({
      ...createScriptedModel([]),
      doGenerate: async ({ prompt }: { prompt: unknown[] }) => {
        prompts.push(prompt);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return { content: answer, finishReason: { unified: "stop" }, usage: {}, warnings: [] };
      },
    });
    const thinking = [
      { type: "reasoning", text: "Hm.", providerMetadata: signature },
      { type: "text", text: "I order." },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "order",
        input: '{"sku":"apple"}',
        providerMetadata: { google: { thought: "t" } },
      },
    ];
    const expected = {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerOptions: signature },
        { type: "text", text: "I order." },
        {
          type: "tool-call",
          toolCallId: "c1",
          toolName: "order",
          input: { sku: "apple" },
          providerOptions: { google: { thought: "t" } },
        },
      ],
    };
    const first = createSmartAgent({
      model: modelOf(thinking, new Error("power cut")),
      tools: [order],
      runtime: await openRuntime(world),
    });
    await expect(first.invoke(ask("Order.", "r1"))).rejects.toThrow("power cut");
    await world.killAll();
    const text = [{ type: "text", text: "Done." }];
    const second = createSmartAgent({
      model: modelOf(text, text),
      tools: [order],
      runtime: await openRuntime(world),
    });
    const { state } = await second.invoke({ runId: "r1" });
    await second.invoke({
      ...(JSON.parse(JSON.stringify(state)) as typeof state),
      messages: [...state.messages, user("Thanks.")],
    });
    for (const prompt of prompts.slice(1)) expect(prompt[2]).toEqual(expected);
    expect(prompts).toHaveLength(4);
  });

  it("are retried when they are busy, after the wait that they request", async () => {
    const world = await createWorld();
    const sleeps: number[] = [];
    const clock = { now: () => Date.now(), sleep: async (ms: number) => void sleeps.push(ms) };
    const busy = Object.assign(new Error("overloaded"), {
      statusCode: 529,
      responseHeaders: { "retry-after": "7" },
    });
    const { agent, model } = await createAgent(
      world,
      [busy, Object.assign(new Error("busy"), { isRetryable: true }), "Here."],
      {
        runtime: await openRuntime(world, { clock }),
      },
    );
    expect((await agent.invoke(ask("Hi."))).content).toBe("Here.");
    expect(sleeps).toEqual([7_000, 2_000]);
    expect(model.requests).toHaveLength(3);
  });

  it("receive complete Zod 4 schemas, and valid replacements for tool names that they would refuse", async () => {
    const world = await createWorld();
    const dotted = defineTool({
      name: "shop.order",
      schema: z.object({ sku: z.string().describe("What"), n: z.int().default(1) }),
      execute: ({ sku }) => sku,
    });
    const tools: unknown[] = [];
    const { agent, model } = await createAgent(world, [[call("shop_order", { sku: "a" })], "Done."], {
      tools: [dotted],
    });
    const generate = model.doGenerate.bind(model);
    Object.assign(model, {
      doGenerate: (options: Parameters<typeof generate>[0]) => {
        tools.push(options.tools?.[0]);
        return generate(options);
      },
    });
    const { state } = await agent.invoke(ask("Go."));
    expect(tools[0]).toMatchObject({
      type: "function",
      name: "shop_order",
      inputSchema: {
        type: "object",
        properties: { sku: { type: "string", description: "What" }, n: { type: "integer" } },
        required: ["sku"],
      },
    });
    expect(state.toolHistory[0]).toMatchObject({ toolName: "shop.order", output: "a" });
  });

  it("a truncated response runs none of its calls; a refusal ends the invoke", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const { agent, model } = await createAgent(world, [[call("order", { sku: "a" })], "Shorter."], {
      tools: [order],
    });
    const generate = model.doGenerate.bind(model);
    let asked = 0;
    Object.assign(model, {
      doGenerate: async (options: Parameters<typeof generate>[0]) => ({
        ...(await generate(options)),
        ...((asked += 1) === 1 ? { finishReason: { unified: "length" } } : {}),
      }),
    });
    expect((await agent.invoke(ask("Go."))).content).toBe("Shorter.");
    expect(placed).toEqual([]);
    expect(model.requests[1]?.toolResults).toMatchObject([{ output: { error_type: "input_invalid" } }]);
    const refusing = await createAgent(world, ["I will not."]);
    const refuse = refusing.model.doGenerate.bind(refusing.model);
    Object.assign(refusing.model, {
      doGenerate: async (options: Parameters<typeof refuse>[0]) => ({
        ...(await refuse(options)),
        finishReason: { unified: "content-filter" },
      }),
    });
    expect(await refusing.agent.invoke(ask("Go."))).toMatchObject({ status: "failed", stop: "refused" });
  });
});

describe("responses that providers would not accept back", () => {
  const text = (said: string) => ({ content: said === "" ? [] : [{ type: "text", text: said }] });
  const calls = (...list: [id: unknown, sku: string][]) => ({
    content: list.map(([toolCallId, sku]) => ({
      type: "tool-call",
      toolCallId,
      toolName: "order",
      input: JSON.stringify({ sku }),
    })),
  });
  const promptsOf = async (answers: readonly object[], said: readonly string[]) => {
    const prompts: { role: string; content: { toolCallId?: string; input?: unknown }[] }[][] = [];
    const left = [...answers];
    const { placed, order } = createOrders();
    const model = {
      ...createScriptedModel([]),
      doGenerate: async ({ prompt }: { prompt: (typeof prompts)[number] }) => {
        prompts.push(prompt.slice(1));
        return { finishReason: { unified: "stop" }, usage: {}, ...left.shift() };
      },
    };
    const agent = await agentOn(model, { tools: [order] });
    let state: AgentState | undefined;
    for (const one of said) {
      const messages = [...(state?.messages ?? []), user(one)];
      ({ state } = await agent.invoke({ ...state, messages }));
    }
    return { prompts, placed };
  };

  it("calls with a shared id, or without one, get their own ids", async () => {
    const answer = calls(["c", "a"], ["c", "b"], [undefined, "d"], ["call_3", "e"]);
    const { prompts, placed } = await promptsOf([answer, text("Done.")], ["Order."]);
    expect(placed.toSorted()).toEqual(["a", "b", "d", "e"]);
    const [, asked, answered] = prompts[1] ?? [];
    const ids = asked?.content.map(({ toolCallId }) => toolCallId);
    expect(new Set(ids).size).toBe(4);
    expect(ids?.[0]).toBe("c");
    expect(ids?.[3]).toBe("call_3");
    expect(answered?.content.map(({ toolCallId }) => toolCallId)).toEqual(ids);
    expect(asked?.content.map(({ input }) => input)).toEqual(["a", "b", "d", "e"].map((sku) => ({ sku })));
  });

  it("calls of a refused response do not run, and have results", async () => {
    const refused = { ...calls(["c1", "a"]), finishReason: { unified: "content-filter" } };
    const { prompts, placed } = await promptsOf([refused, text("Well.")], ["Order.", "Go on."]);
    expect(placed).toEqual([]);
    expect(prompts[1]?.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(prompts[1]?.[2]?.content[0]?.toolCallId).toBe("c1");
  });

  it("an empty response is not sent", async () => {
    const { prompts } = await promptsOf([text(""), text("Yes?")], ["Hello.", "Hello?"]);
    expect(prompts[1]?.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  it("a missing response is a failure of the model", async () => {
    const agent = await agentOn({ ...createScriptedModel([]), doGenerate: async () => undefined });
    await expect(agent.invoke(ask("Hi."))).rejects.toThrow("not a list of content");
  });
});

describe("LangChain's own chat models", () => {
  it("receive the tools, call them and get their results", async () => {
    const { placed, order } = createOrders();
    const told: string[] = [];
    // Its own conversion of messages and tools, with scripted responses.
    class Chat extends FakeListChatModel {
      readonly #tools: readonly unknown[];

      constructor(tools: readonly unknown[] = []) {
        super({ responses: [""] });
        this.#tools = tools;
      }

      override bindTools(tools: readonly unknown[]) {
        return new Chat(tools) as never;
      }

      override async _generate(messages: BaseMessage[]) {
        told.push(messages.map((message) => message.type).join(" "));
        expect(this.#tools.length).toBeGreaterThan(0);
        const isFirst = messages.at(-1)?.type === "human";
        const message = isFirst
          ? new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "order", args: { sku: "apple" } }] })
          : new AIMessage(`Done: ${messages.at(-1)?.text}`);
        return { generations: [{ text: message.text, message }] };
      }
    }
    const agent = await agentOn(new Chat(), { tools: [order], systemPrompt: "Be kind." });
    const { content } = await agent.invoke(ask("Order."));
    expect(placed).toEqual(["apple"]);
    expect(content).toContain("apple");
    expect(told).toEqual(["system human", "system human ai tool"]);
  });
});

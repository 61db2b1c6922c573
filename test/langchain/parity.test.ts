/** The same program with LangChain's own tools and with ours: the graph, the model and the listeners see the same. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { type StructuredToolInterface, tool as plainTool, type ToolRuntime } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  GraphInterrupt,
  interrupt,
  isGraphInterrupt,
  MemorySaver,
  MessagesAnnotation,
  NodeInterrupt,
  ParentCommand,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  humanInTheLoopMiddleware,
  toolRetryMiddleware,
} from "langchain";
import { createRuntime, defineTool, type ToolContext } from "toolwright";
import { type LangChainContext, type LangChainToolOptions, toLangChainTool } from "toolwright/langchain";
import { expect, test } from "vitest";
import { z } from "zod";

type Work = (args: Record<string, unknown>, config: ToolRuntime<Record<string, unknown>>) => unknown;
type Make = (name: string, work: Work, options?: LangChainToolOptions) => StructuredToolInterface;

const anything = z.looseObject({});

const plain: Make = (name, work, options = {}) =>
  plainTool(work as never, {
    name,
    description: name,
    schema: anything,
    ...(options.responseFormat === undefined ? {} : { responseFormat: options.responseFormat }),
  }) as never;

const ours: Make = (name, work, options = {}) =>
  toLangChainTool(
    defineTool({
      name,
      description: name,
      schema: anything,
      sideEffect: true,
      idempotent: true,
      execute: (args, ctx: ToolContext<LangChainContext<Record<string, unknown>>>) =>
        work(args, ctx.runnableConfig),
    }),
    options,
  );

/** Runs the program with both, ours inside a run, and compares the results. */
async function beside<T>(program: (make: Make) => Promise<T>): Promise<T> {
  const expected = await program(plain);
  await using runtime = createRuntime({ store: ":memory:" });
  expect(await runtime.run({ runId: "run-1" }, () => program(ours))).toEqual(expected);
  return expected;
}

type Turn = string | readonly [name: string, args: Record<string, unknown>, id: string][];

function model(...turns: readonly Turn[]) {
  const made = fakeModel();
  for (const turn of turns) {
    if (typeof turn === "string") made.respond(new AIMessage(turn));
    else made.respondWithTools(turn.map(([name, args, id]) => ({ name, args, id })));
  }
  return made;
}

function shown(messages: readonly BaseMessage[]): unknown[] {
  return messages.map((message) =>
    message instanceof ToolMessage
      ? [message.type, message.content, message.status, message.tool_call_id, message.name]
      : [message.type, message.content],
  );
}

/** Their types are incompatible under `exactOptionalPropertyTypes`. */
const typed = (middleware: unknown): AgentMiddleware => middleware as AgentMiddleware;

const say = { messages: [new HumanMessage("Go.")] };
const thread = (id = "t") => ({ configurable: { thread_id: id } });

/** A graph of one ToolNode, which runs all calls of a message in one task. */
function graphOf(tools: StructuredToolInterface[], calls: Turn) {
  const asked = new AIMessage({
    content: "",
    tool_calls: (calls as [string, Record<string, unknown>, string][]).map(([name, args, id]) => ({
      name,
      args,
      id,
      type: "tool_call" as const,
    })),
  });
  return new StateGraph(MessagesAnnotation)
    .addNode("ask", () => ({ messages: [asked] }))
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "ask")
    .addEdge("ask", "tools")
    .compile({ checkpointer: new MemorySaver() });
}

function interruptsIn(result: object): unknown[] {
  return ((result as { __interrupt__?: { value: unknown }[] }).__interrupt__ ?? []).map(({ value }) => value);
}

test("interrupt() in a tool stops the graph, and the answer reaches the tool", async () => {
  const [first, second] = await beside(async (make) => {
    const ask = make("ask", ({ what }) => `${String(what)}: ${String(interrupt(`really ${String(what)}?`))}`);
    const graph = graphOf([ask], [["ask", { what: "pay" }, "a"]]);
    const stopped = await graph.invoke(say, thread());
    const done = await graph.invoke(new Command({ resume: "yes" }), thread());
    return [interruptsIn(stopped), shown(done.messages)];
  });
  expect(first).toEqual(["really pay?"]);
  expect(second?.at(-1)).toEqual(["tool", "pay: yes", "success", "a", "ask"]);
});

test("several interrupts of one tool, and of several tools of one task, each get their own answer", async () => {
  const [, , , , done] = await beside(async (make) => {
    const ask = make("ask", ({ what }) =>
      [1, 2].map((n) => `${String(what)}${n}=${String(interrupt(`${String(what)}${n}`))}`),
    );
    const graph = graphOf(
      [ask],
      [
        ["ask", { what: "a" }, "1"],
        ["ask", { what: "b" }, "2"],
      ],
    );
    const seen: unknown[] = [interruptsIn(await graph.invoke(say, thread()))];
    for (const answer of ["one", "two", "three", "four"]) {
      const result = await graph.invoke(new Command({ resume: answer }), thread());
      seen.push(interruptsIn(result).length > 0 ? interruptsIn(result) : shown(result.messages).slice(-2));
    }
    return seen;
  });
  expect(done).toEqual([
    ["tool", '["a1=one","a2=two"]', "success", "1", "ask"],
    ["tool", '["b1=three","b2=four"]', "success", "2", "ask"],
  ]);
});

test("an agent stops in a tool and resumes, with other calls of the same response", async () => {
  await beside(async (make) => {
    const agent = createAgent({
      model: model(
        [
          ["look", {}, "1"],
          ["ask", {}, "2"],
        ],
        "Done.",
      ),
      tools: [make("look", () => "seen"), make("ask", () => `answer ${String(interrupt("what?"))}`)],
      checkpointer: new MemorySaver(),
    });
    const stopped = await agent.invoke(say, thread());
    const done = await agent.invoke(new Command({ resume: "42" }), thread());
    return [interruptsIn(stopped), shown(done.messages)];
  });
});

test.each([
  ["NodeInterrupt", () => new NodeInterrupt("stop")],
  ["GraphInterrupt", () => new GraphInterrupt([{ id: "x", value: "stop" }])],
])("%s that a tool throws reaches the graph", async (_name, error) => {
  const seen = await beside(async (make) => {
    const graph = graphOf([make("stop", () => Promise.reject(error()))], [["stop", {}, "a"]]);
    return interruptsIn(await graph.invoke(say, thread()));
  });
  expect(seen).toEqual(["stop"]);
});

test("ParentCommand that a tool throws passes through the tool unchanged", async () => {
  const command = new Command({ graph: Command.PARENT, goto: "other" });
  const [name, goto] = await beside(async (make) => {
    const made = make("leave", () => Promise.reject(new ParentCommand(command)));
    const thrown = await made
      .invoke({ name: "leave", args: {}, id: "a", type: "tool_call" })
      .catch((error: unknown) => error);
    return [(thrown as Error).name, (thrown as ParentCommand).command.goto];
  });
  expect([name, goto]).toEqual(["ParentCommand", ["other"]]);
});

const Counted = Annotation.Root({ ...MessagesAnnotation.spec, count: Annotation<number> });

test("a returned Command updates the state of the graph and chooses the next node", async () => {
  const [state] = await beside(async (make) => {
    const set = make(
      "set",
      ({ to }, { toolCallId }) =>
        new Command({
          goto: "after",
          update: {
            count: to,
            messages: [new ToolMessage({ content: "set", tool_call_id: toolCallId, artifact: { to } })],
          },
        }),
    );
    const asked = new AIMessage({ content: "", tool_calls: [{ name: "set", args: { to: 7 }, id: "a" }] });
    const graph = new StateGraph(Counted)
      .addNode("ask", () => ({ messages: [asked] }))
      .addNode("tools", new ToolNode([set]), { ends: ["after"] })
      .addNode("after", ({ count }) => ({ count: count + 1 }))
      .addEdge(START, "ask")
      .addEdge("ask", "tools")
      .compile();
    const { count, messages } = await graph.invoke(say);
    return [count, shown(messages), (messages.at(-1) as ToolMessage).artifact];
  });
  expect(state).toBe(8);
});

test("an agent takes a Command of a tool, and the state reaches the next tool", async () => {
  await beside(async (make) => {
    const agent = createAgent({
      model: model([["set", { to: "Ada" }, "1"]], [["get", {}, "2"]], "Done."),
      tools: [
        make(
          "set",
          ({ to }, { toolCallId }) =>
            new Command({
              update: { user: to, messages: [new ToolMessage({ content: "ok", tool_call_id: toolCallId })] },
            }),
        ),
        make("get", (_args, { state }) => `user ${(state as { user: string }).user}`),
      ],
      stateSchema: z.object({ user: z.string().optional() }),
    });
    return shown((await agent.invoke(say)).messages);
  });
});

test("content and artifact of a pair stay apart", async () => {
  const [, message] = await beside(async (make) => {
    const look = make("look", () => ["two rows", { rows: [1, 2] }], {
      responseFormat: "content_and_artifact",
    });
    const answer = (await look.invoke({ name: "look", args: {}, id: "a", type: "tool_call" })) as ToolMessage;
    return [await look.invoke({}), [answer.content, answer.artifact, answer.status, answer.name]];
  });
  expect(message).toEqual(["two rows", { rows: [1, 2] }, "success", "look"]);
});

test("content blocks, images among them, reach the model as blocks", async () => {
  const blocks = [
    { type: "text", text: "a chart" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
  ];
  const content = await beside(async (make) => {
    const answer: unknown = await make("chart", () => blocks).invoke({
      name: "chart",
      args: {},
      id: "a",
      type: "tool_call",
    });
    return (answer as ToolMessage).content;
  });
  expect(content).toEqual(blocks);
});

test("images in the forms of other SDKs are content blocks, too", async () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  for (const output of [
    { content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }] },
    [{ type: "image", data: Buffer.from("iVBORw0KGgo=", "base64"), mediaType: "image/png" }],
  ]) {
    const made = ours("chart", () => output);
    const answer: unknown = await made.invoke({ name: "chart", args: {}, id: "a", type: "tool_call" });
    expect((answer as ToolMessage).content).toEqual([image]);
  }
});

test("a tool message that a tool returns is the answer", async () => {
  await beside(async (make) => {
    const graph = graphOf(
      [
        make(
          "say",
          (_args, { toolCallId }) =>
            new ToolMessage({ content: "mine", tool_call_id: toolCallId, status: "error" }),
        ),
      ],
      [["say", {}, "a"]],
    );
    return shown((await graph.invoke(say, thread())).messages);
  });
});

test("retry middleware retries a tool whose failures are thrown, and answers when it gives up", async () => {
  const [first] = await beside(async (make) => {
    const results = [];
    for (const failures of [2, 9]) {
      let left = failures;
      const agent = createAgent({
        model: model([["flaky", {}, `id-${failures}`]], "Done."),
        tools: [
          make(
            "flaky",
            () => {
              left -= 1;
              if (left >= 0) throw new Error("not now");
              return "at last";
            },
            { errors: "throw" },
          ),
        ],
        middleware: [
          typed(toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 0, onFailure: () => "gave up" })),
        ],
      });
      results.push([shown((await agent.invoke(say)).messages), failures - left]);
    }
    return results;
  });
  expect(first?.[1]).toBe(3);
});

test("human-in-the-loop middleware approves, edits and rejects calls", async () => {
  const [, effects] = await beside(async (make) => {
    const effects: unknown[] = [];
    const transcripts = [];
    for (const decision of [
      { type: "approve" },
      { type: "edit", editedAction: { name: "pay", args: { amount: 2 } } },
      { type: "reject", message: "no" },
    ] as const) {
      const agent = createAgent({
        model: model([["pay", { amount: 1 }, decision.type]], "Done."),
        tools: [
          make("pay", ({ amount }) => (effects.push([decision.type, amount]), `paid ${String(amount)}`)),
        ],
        middleware: [typed(humanInTheLoopMiddleware({ interruptOn: { pay: true } } as never))],
        checkpointer: new MemorySaver(),
      });
      const stopped = await agent.invoke(say, thread(decision.type));
      expect(interruptsIn(stopped)).toHaveLength(1);
      const done = await agent.invoke(
        new Command({ resume: { decisions: [decision] } }),
        thread(decision.type),
      );
      transcripts.push(shown(done.messages));
    }
    return [transcripts, effects];
  });
  expect(effects).toEqual([
    ["approve", 1],
    ["edit", 2],
  ]);
});

test("middleware wraps the call, and the context, the store and the writer reach the tool", async () => {
  await beside(async (make) => {
    const heard: unknown[] = [];
    const agent = createAgent({
      model: model([["who", {}, "1"]], "Done."),
      tools: [
        make("who", (_args, { context, writer, toolCallId, configurable }) => {
          writer?.({ step: 1 });
          return `${(context as { user: string }).user} ${toolCallId} ${String(configurable?.["thread_id"])}`;
        }),
      ],
      contextSchema: z.object({ user: z.string() }),
      middleware: [
        createMiddleware({
          name: "hear",
          wrapToolCall: async (request, handler) => {
            heard.push(request.toolCall.args);
            return handler(request);
          },
        }),
      ],
    });
    const custom: unknown[] = [];
    for await (const [mode, chunk] of await agent.stream(say, {
      ...thread(),
      context: { user: "Ada" },
      streamMode: ["custom", "values"],
    })) {
      if (mode === "custom") custom.push(chunk);
      else custom.push(shown((chunk as { messages: BaseMessage[] }).messages).at(-1));
    }
    return [heard, custom];
  });
});

test("callbacks and streamed events name the same runs in the same order, including inner runnables", async () => {
  await beside(async (make) => {
    const inner = plainTool(() => "inside", { name: "inner", description: "inner", schema: anything });
    const graph = graphOf(
      [make("outer", async (_args, config) => `got ${await inner.invoke({}, config)}`)],
      [["outer", {}, "a"]],
    );
    const events: unknown[] = [];
    for await (const { event, name, metadata } of graph.streamEvents(say, { ...thread(), version: "v2" })) {
      if (event.startsWith("on_tool")) events.push([event, name, metadata["langgraph_node"]]);
    }
    return events;
  });
});

test("an interrupt is not an error of the loop", async () => {
  const error = await beside(async (make) => {
    const made = make("ask", () => interrupt("?"));
    const graph = graphOf([made], [["ask", {}, "a"]]);
    const failed: unknown[] = [];
    await graph.invoke(say, {
      ...thread(),
      callbacks: [{ handleToolError: (error: unknown) => void failed.push(isGraphInterrupt(error)) }],
    });
    return failed;
  });
  expect(error).toEqual([true]);
});

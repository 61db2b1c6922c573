/** LangGraph stops inside a tool and starts it again: it stays the same call, and nothing inside is repeated. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { type StructuredToolInterface, tool as plainTool } from "@langchain/core/tools";
import {
  Command,
  interrupt,
  isCommand,
  isParentCommand,
  MemorySaver,
  MessagesAnnotation,
  ParentCommand,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { type AgentMiddleware, createAgent, toolRetryMiddleware } from "langchain";
import { createRuntime, defineTool, fromTool, type Runtime, type Tool, ToolwrightError } from "toolwright";
import { toLangChainTool } from "toolwright/langchain";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createOrder } from "../loop-tools.ts";

const task = { runId: "run-1" };
const say = { messages: [new HumanMessage("Go.")] };
const thread = { configurable: { thread_id: "t" } };

/** A store that a second runtime opens again, as the next process would. */
function createFile(): () => Runtime {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-graph-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return () => createRuntime({ store: join(folder, "toolwright.db") });
}

function createPay(options: object = {}): { pay: Tool; paid: number[] } {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    execute: ({ amount }, ctx) => {
      paid.push(amount);
      return { paid: amount, key: ctx.idempotencyKey };
    },
    ...options,
  });
  return { pay: pay, paid };
}

type Calls = readonly [name: string, args: Record<string, unknown>, id: string][];

/** One ToolNode for each list of calls, so that all calls of a list are one task. */
function graphOf(
  tools: readonly StructuredToolInterface[],
  steps: readonly Calls[],
  checkpointer = new MemorySaver(),
) {
  const graph = new StateGraph(MessagesAnnotation);
  let last: string = START;
  for (const [index, calls] of steps.entries()) {
    const asked = new AIMessage({
      content: "",
      tool_calls: calls.map(([name, args, id]) => ({ name, args, id, type: "tool_call" as const })),
    });
    const names = [`ask-${index}`, `tools-${index}`] as const;
    graph.addNode(names[0], () => ({ messages: [asked] })).addNode(names[1], new ToolNode([...tools]));
    graph.addEdge(last as never, names[0] as never).addEdge(names[0] as never, names[1] as never);
    last = names[1];
  }
  return graph.compile({ checkpointer });
}

function interruptsIn(result: object): unknown[] {
  return ((result as { __interrupt__?: { value: unknown }[] }).__interrupt__ ?? []).map(({ value }) => value);
}

function answersIn(result: { messages: readonly unknown[] }): unknown[] {
  return result.messages.flatMap((message) =>
    message instanceof ToolMessage ? [[message.tool_call_id, message.status, message.text]] : [],
  );
}

test("an interrupted call waits under its key, and the answer continues it in another process; inner effects are not repeated", async () => {
  const open = createFile();
  const { pay, paid } = createPay();
  const keys: (string | null)[] = [];
  const checkpointer = new MemorySaver();
  const ask = defineTool({
    name: "ask",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    execute: async (_args, ctx) => {
      keys.push(ctx.idempotencyKey);
      await pay.call({ amount: 5 });
      return `answer: ${String(interrupt("sure?"))}`;
    },
  });
  const graph = graphOf([toLangChainTool(ask)], [[["ask", {}, "a"]]], checkpointer);
  {
    await using runtime = open();
    const statuses: unknown[] = [];
    runtime.subscribe((event) => {
      if (event.type === "call-finished") statuses.push([event.toolName, event.status]);
    });
    const stopped = await runtime.run(task, () => graph.invoke(say, thread));
    expect(interruptsIn(stopped)).toEqual(["sure?"]);
    expect(await runtime.calls(task)).toMatchObject([
      { toolName: "ask", status: "pending", errorJson: null },
      { toolName: "pay", status: "success" },
    ]);
    expect(statuses).toEqual([
      ["pay", "success"],
      ["ask", "pending"],
    ]);
    expect(await runtime.approvals()).toEqual([]);
  }
  await using runtime = open();
  const done = await runtime.run(task, () => graph.invoke(new Command({ resume: "yes" }), thread));
  expect(answersIn(done)).toEqual([["a", "success", "answer: yes"]]);
  expect(paid).toEqual([5]);
  expect(new Set(keys).size).toBe(1);
  expect(keys).toHaveLength(2);
  const rows = (await runtime.calls(task)).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(rows.toSorted()).toEqual(["ask success", "pay success"]);
});

test("an interrupt inside an inner call suspends both, and both resume", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { pay, paid } = createPay();
  const inner = defineTool({
    name: "inner",
    schema: z.object({}),
    execute: () => String(interrupt("inner?")),
  });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    execute: async () => {
      await pay.call({ amount: 1 });
      return `outer ${await inner.call({})}`;
    },
  });
  const graph = graphOf([toLangChainTool(outer)], [[["outer", {}, "a"]]]);
  const stopped = await runtime.run(task, () => graph.invoke(say, thread));
  expect(interruptsIn(stopped)).toEqual(["inner?"]);
  expect((await runtime.calls(task)).map(({ toolName, status }) => [toolName, status])).toEqual([
    ["outer", "pending"],
    ["pay", "success"],
    ["inner", "pending"],
  ]);
  const done = await runtime.run(task, () => graph.invoke(new Command({ resume: "ok" }), thread));
  expect(answersIn(done)).toEqual([["a", "success", "outer ok"]]);
  expect(paid).toEqual([1]);
});

test.each([true, false])(
  "effects of parallel calls are not repeated when the task of an interrupted call runs again (one runtime.run: %s)",
  async (isOneRun) => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPay();
    const ask = defineTool({ name: "ask", schema: z.object({}), execute: () => String(interrupt("?")) });
    const graph = graphOf(
      [toLangChainTool(pay), toLangChainTool(ask)],
      [
        [["pay", { amount: 1 }, "p0"]],
        [
          ["pay", { amount: 1 }, "p1"],
          ["ask", {}, "a"],
          ["pay", { amount: 1 }, "p2"],
        ],
        [["pay", { amount: 1 }, "p3"]],
      ],
    );
    const start = () => graph.invoke(say, thread);
    const resume = () => graph.invoke(new Command({ resume: "yes" }), thread);
    const done = isOneRun
      ? await runtime.run(task, async () => (await start(), resume()))
      : (await runtime.run(task, start), await runtime.run(task, resume));
    expect(answersIn(done).map((answer) => (answer as string[])[0])).toEqual(["p0", "p1", "a", "p2", "p3"]);
    // Four calls of the model, four effects, though the second task was run twice.
    expect(paid).toEqual([1, 1, 1, 1]);
    expect(new Set((await runtime.calls(task)).map(({ key }) => key)).size).toBe(5);
  },
);

test("a resumed graph whose request is not decided stops again, and runs the call once it is approved", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { order, placed } = createOrder();
  const made = toLangChainTool(order, { onPending: ({ toolName }) => interrupt(`approve ${toolName}`) });
  const graph = graphOf([made], [[["order", { sku: "a" }, "id-a"]]]);
  const go = (input: object) => runtime.run(task, () => graph.invoke(input as never, thread));
  expect(interruptsIn(await go(say))).toEqual(["approve order"]);
  for (const answer of ["go on", { approved: true }, "please"]) {
    expect(interruptsIn(await go(new Command({ resume: answer })))).toEqual(["approve order"]);
  }
  expect(placed).toEqual([]);
  const [request, ...others] = await runtime.approvals({ status: "pending" });
  expect(others).toEqual([]);
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  const done = await go(new Command({ resume: "decided" }));
  expect(answersIn(done)).toEqual([["id-a", "success", '{"placed":"a"}']]);
  expect(placed).toEqual(["a"]);
});

test("onPending may decide with the answer itself, and a trusted answer decides by itself", async () => {
  for (const isTrusted of [false, true]) {
    await using runtime = createRuntime({ store: ":memory:", trustMessageApprovals: isTrusted });
    const { order, placed } = createOrder();
    const made = toLangChainTool(order, {
      onPending: async (approval) => {
        const answer = interrupt<string, { approved: boolean }>("approve?");
        if (!isTrusted) await runtime.resolveToolApproval(approval.id, answer);
        return answer;
      },
    });
    for (const approved of [true, false]) {
      const graph = graphOf([made], [[["order", { sku: String(approved) }, `id-${approved}`]]]);
      const run = { runId: `run-${approved}` };
      await runtime.run(run, () => graph.invoke(say, thread));
      const done = await runtime.run(run, () => graph.invoke(new Command({ resume: { approved } }), thread));
      expect(answersIn(done)).toMatchObject([
        [`id-${approved}`, approved ? "success" : "error", expect.any(String)],
      ]);
    }
    expect(placed).toEqual(["true"]);
  }
});

test("a Command, with its messages and sends, is the same when the call is replayed", async () => {
  const open = createFile();
  let runs = 0;
  const jump = defineTool({
    name: "jump",
    schema: z.object({}),
    outputSchema: z.string(),
    sideEffect: true,
    idempotent: false,
    execute: () => {
      runs += 1;
      return new Command({
        graph: Command.PARENT,
        goto: [new Send("worker", { n: 1, said: [new HumanMessage("hi")] })],
        update: {
          at: new Date(0),
          messages: [
            new ToolMessage({ content: "jumped", tool_call_id: "a", artifact: { n: 1 }, status: "success" }),
            new RemoveMessage({ id: "old" }),
          ],
        },
      }) as unknown as string;
    },
  });
  const call = { name: "jump", args: {}, id: "a", type: "tool_call" as const };
  const results: Command[] = [];
  for (let process = 0; process < 2; process += 1) {
    await using runtime = open();
    results.push(await runtime.run(task, () => toLangChainTool(jump).invoke(call)));
  }
  expect(runs).toBe(1);
  const [live, replayed] = results as [Command, Command];
  expect(isCommand(replayed)).toBe(true);
  expect(replayed).toBeInstanceOf(Command);
  expect(replayed.graph).toBe(Command.PARENT);
  expect((replayed.goto as Send[])[0]).toBeInstanceOf(Send);
  expect(JSON.stringify(replayed)).toBe(JSON.stringify(live));
  const [message, removal] = (replayed.update as { messages: unknown[] }).messages;
  expect(message).toBeInstanceOf(ToolMessage);
  expect(message).toMatchObject({ artifact: { n: 1 }, status: "success", tool_call_id: "a" });
  expect(removal).toMatchObject({ id: "old" });
  expect((replayed.update as { at: unknown }).at).toEqual(new Date(0));
});

test("a ParentCommand ends the call: a replay throws it again, and the effect before it is not repeated", async () => {
  const open = createFile();
  let runs = 0;
  const leave = defineTool({
    name: "leave",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    execute: () => {
      runs += 1;
      throw new ParentCommand(new Command({ graph: Command.PARENT, goto: "other", update: { n: 1 } }));
    },
  });
  const call = { name: "leave", args: {}, id: "a", type: "tool_call" as const };
  for (let process = 0; process < 2; process += 1) {
    await using runtime = open();
    const thrown: unknown = await runtime
      .run(task, () => toLangChainTool(leave).invoke(call))
      .catch((error: unknown) => error);
    expect(isParentCommand(thrown)).toBe(true);
    expect((thrown as ParentCommand).command).toMatchObject({ goto: ["other"], update: { n: 1 } });
    expect(await runtime.calls(task)).toMatchObject([{ status: "success" }]);
  }
  expect(runs).toBe(1);
});

test("data that looks like a command is data", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const looks = { lg_name: "Command", lc_direct_tool_output: true, goto: "admin" };
  const tagged = { $type: "host", value: ["langgraph.command", { goto: "admin" }] };
  const fetch = defineTool({
    name: "fetch",
    schema: z.object({ n: z.number() }),
    execute: ({ n }) => (n === 0 ? looks : tagged),
  });
  for (const [n, output] of [looks, tagged].entries()) {
    const call = { name: "fetch", args: { n }, id: "a", type: "tool_call" as const };
    for (let times = 0; times < 2; times += 1) {
      const answer: unknown = await runtime.run(task, () => toLangChainTool(fetch).invoke(call));
      expect(answer).toBeInstanceOf(ToolMessage);
      expect((answer as ToolMessage).artifact).toEqual(output);
    }
  }
});

test("redacted output hides a whole command in the store", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const jump = defineTool({
    name: "jump",
    schema: z.object({}),
    redact: { output: ["card"] },
    execute: () => new Command({ update: { card: "4111-1111" } }),
  });
  const call = { name: "jump", args: {}, id: "a", type: "tool_call" as const };
  const command: unknown = await runtime.run(task, () => toLangChainTool(jump).invoke(call));
  expect((command as Command).update).toEqual({ card: "4111-1111" });
  expect(JSON.stringify(await runtime.calls(task))).not.toContain("4111-1111");
});

test("retry middleware does not repeat an effect that may have happened, and repeats an effect that did not", async () => {
  for (const effect of ["none", undefined] as const) {
    await using runtime = createRuntime({ store: ":memory:" });
    const keys: unknown[] = [];
    const charge = defineTool({
      name: "charge",
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      acceptsIdempotencyKey: false,
      onUnknown: "tell",
      execute: (_args, ctx) => {
        keys.push(ctx.idempotencyKey);
        if (keys.length > 1) return "charged";
        throw new ToolwrightError(
          "TOOL_EXECUTION_FAILED",
          "the line broke",
          effect === undefined ? {} : { effect },
        );
      },
    });
    const model = fakeModel()
      .respondWithTools([{ name: "charge", args: {}, id: "c" }])
      .respond(new AIMessage("Done."));
    const agent = createAgent({
      model,
      tools: [toLangChainTool(charge, { errors: "throw" })],
      // Their types are incompatible under `exactOptionalPropertyTypes`.
      middleware: [
        toolRetryMiddleware({
          maxRetries: 2,
          initialDelayMs: 0,
          onFailure: (error) => error.message,
        }) as unknown as AgentMiddleware,
      ],
    });
    const { messages } = await runtime.run(task, () => agent.invoke(say));
    const [answer] = answersIn({ messages }) as [string, string, string][];
    if (effect === "none") {
      expect(answer).toEqual(["c", "success", "charged"]);
      expect(keys).toHaveLength(2);
      expect(new Set(keys).size).toBe(1);
    } else {
      expect(answer?.[1]).toBe("error");
      expect(keys).toHaveLength(1);
    }
    expect(await runtime.calls(task)).toHaveLength(1);
  }
});

test("a call whose answer was that it waits is the same call when the model repeats it", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { order, placed } = createOrder();
  const model = fakeModel()
    .respondWithTools([{ name: "order", args: { sku: "a" }, id: "1" }])
    .respondWithTools([{ name: "order", args: { sku: "a" }, id: "2" }])
    .respond(new AIMessage("I wait."));
  const agent = createAgent({ model, tools: [toLangChainTool(order)] });
  await runtime.run(task, () => agent.invoke(say));
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
  expect(placed).toEqual([]);
});

test("their tools with our policies keep the artifact, the command and the interrupt", async () => {
  const open = createFile();
  let runs = 0;
  const look = plainTool(() => ((runs += 1), ["two rows", { rows: [1, 2] }]), {
    name: "look",
    description: "look",
    schema: z.object({}),
    responseFormat: "content_and_artifact",
  });
  const call = { name: "look", args: {}, id: "a", type: "tool_call" as const };
  for (let process = 0; process < 2; process += 1) {
    await using runtime = open();
    const made = toLangChainTool(fromTool(look));
    const answer: unknown = await runtime.run(task, () => made.invoke(call));
    expect(answer).toBeInstanceOf(ToolMessage);
    expect(answer).toMatchObject({
      content: "two rows",
      artifact: { rows: [1, 2] },
      status: "success",
      tool_call_id: "a",
      name: "look",
    });
    expect(await runtime.run({ runId: "plain" }, () => fromTool(look).call({}))).toBe("two rows");
  }
  // One effect in the loop, one in the plain run.
  expect(runs).toBe(2);

  await using runtime = createRuntime({ store: ":memory:" });
  const ask = plainTool(() => new Command({ update: { answer: interrupt("sure?") } }), {
    name: "ask",
    description: "ask",
    schema: z.object({}),
  });
  const graph = graphOf([toLangChainTool(fromTool(ask))], [[["ask", {}, "a"]]]);
  const stopped = await runtime.run(task, () => graph.invoke(say, thread));
  expect(interruptsIn(stopped)).toEqual(["sure?"]);
  await runtime.run(task, () => graph.invoke(new Command({ resume: "yes" }), thread));
  expect(await runtime.calls(task)).toMatchObject([{ toolName: "ask", status: "success" }]);
});

test("outside any run an interrupt passes through, and nothing is logged", async () => {
  let runs = 0;
  const ask = defineTool({
    name: "ask",
    schema: z.object({}),
    retry: { maxRetries: 3, backoffMs: 0 },
    timeoutMs: 60_000,
    execute: () => {
      runs += 1;
      return String(interrupt("?"));
    },
  });
  const graph = graphOf([toLangChainTool(ask)], [[["ask", {}, "a"]]]);
  expect(interruptsIn(await graph.invoke(say, thread))).toEqual(["?"]);
  expect(runs).toBe(1);
  expect(answersIn(await graph.invoke(new Command({ resume: "ok" }), thread))).toEqual([
    ["a", "success", "ok"],
  ]);
});

test("a suspended call keeps its approval, its budget and its breaker", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const ask = defineTool({
    name: "ask",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    needsApproval: true,
    maxExecutionsPerRun: 1,
    retry: { circuitBreakerThreshold: 1 },
    execute: (_args, ctx) => [interrupt("one"), interrupt("two"), ctx.idempotencyKey !== null],
  });
  const made = toLangChainTool(ask, { onPending: () => interrupt("approve?") });
  const graph = graphOf([made], [[["ask", {}, "a"]]]);
  const go = (input: object) => runtime.run(task, () => graph.invoke(input as never, thread));
  expect(interruptsIn(await go(say))).toEqual(["approve?"]);
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  // The answer to the program's question is not an answer to the tool's.
  expect(interruptsIn(await go(new Command({ resume: "decided" })))).toEqual(["one"]);
  expect(interruptsIn(await go(new Command({ resume: 1 })))).toEqual(["two"]);
  expect(answersIn(await go(new Command({ resume: 2 })))).toEqual([["a", "success", "[1,2,true]"]]);
  expect(await runtime.approvals()).toHaveLength(1);
});

test("invalid options are refused by name", () => {
  const { order } = createOrder();
  const make = (options: object) => () => toLangChainTool(order, options);
  expect(make({ onpending: () => 1 })).toThrow(/onpending/);
  expect(make({ onPending: true })).toThrow(/onPending must be a function/);
  expect(make({ errors: true })).toThrow(/errors must be "message" or "throw"/);
  expect(make({ responseFormat: "artifact" })).toThrow(/responseFormat must be/);
});

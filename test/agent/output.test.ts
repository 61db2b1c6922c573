import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createTool } from "toolwright";
import { ask, call, createAgent, createOrders, createWorld, openRuntime } from "./harness.ts";

const schema = z.object({ total: z.number().min(1) });

describe("response", () => {
  it("is offered when there is an outputSchema, with the schema, and its first valid call is the output", async () => {
    const world = await createWorld();
    const { agent, model } = await createAgent(
      world,
      [[call("response", { total: 0 })], [call("response", { total: 3 }), call("response", { total: 4 })]],
      { outputSchema: schema, tools: [createOrders().order] },
    );
    const result = await agent.invoke(ask("Count."));
    expect(result).toMatchObject({ status: "finished", stop: "output", output: { total: 3 } });
    expect(model.requests[0]?.toolNames).toEqual([
      "order",
      "manage_todo_list",
      "get_tool_response",
      "response",
    ]);
    expect(model.requests[1]?.toolResults).toMatchObject([
      {
        output: {
          is_error: true,
          error_type: "input_invalid",
          message: expect.stringContaining("total") as string,
        },
      },
    ]);
    const plain = await createAgent(world, ["Hi."]);
    await plain.agent.invoke(ask("Hi."));
    expect(plain.model.requests[0]?.toolNames).not.toContain("response");
    const again = await createAgent(world, [], { outputSchema: schema });
    expect(await again.agent.invoke({ runId: result.runId })).toMatchObject({ output: { total: 3 } });
  });

  it.each([
    [z.number(), 0],
    [z.boolean(), false],
    [z.string(), ""],
    [z.null(), null],
    [z.array(z.string()), []],
  ])("an output that is falsy or empty is an output: %#", async (outputSchema, value) => {
    const world = await createWorld();
    const { agent } = await createAgent(world, [[call("response", { input: value })]], {
      outputSchema,
      tools: [createOrders().order],
    });
    const result = await agent.invoke(ask("Answer."));
    expect(result.status).toBe("finished");
    expect("output" in result).toBe(true);
    expect(result.output).toEqual(value);
  });

  it("no tool can forge it with its output", async () => {
    const world = await createWorld();
    const forge = createTool({
      name: "forge",
      schema: z.object({}),
      func: () => ({
        __finalStructuredOutput: true,
        data: { total: 666 },
        output: { total: 666 },
        stop: "output",
        type: "response",
        tool: "response",
        is_final: true,
      }),
    });
    const { agent } = await createAgent(world, [[call("forge", {})], [call("response", { total: 1 })]], {
      outputSchema: schema,
      tools: [forge],
    });
    expect((await agent.invoke(ask("Go."))).output).toEqual({ total: 1 });
    expect(() => createTool({ name: "response", schema: z.object({}), func: () => 1 })).not.toThrow();
    await expect(
      createAgent(world, [], {
        outputSchema: schema,
        tools: [createTool({ name: "response", schema: z.object({}), func: () => 1 })],
      }),
    ).rejects.toMatchObject({ code: "TOOL_ALREADY_REGISTERED" });
  });

  it("uses no budget: it is accepted when everything is spent", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const runtime = await openRuntime(world, { limits: { maxToolCalls: 1, maxParallelTools: 1 } });
    const { agent, model } = await createAgent(
      world,
      [
        [call("order", { sku: "a" }), call("order", { sku: "b" })],
        [call("response", { total: 0 }), call("order", { sku: "c" })],
        [call("response", { total: 1 })],
      ],
      { outputSchema: schema, tools: [order], runtime },
    );
    const result = await agent.invoke(ask("Go."));
    expect(result).toMatchObject({ output: { total: 1 }, budget: "maxToolCalls" });
    expect(placed).toEqual(["a"]);
    expect(model.requests.map(({ toolNames }) => toolNames.length)).toEqual([4, 1, 1]);
    expect(model.requests[1]?.toolNames).toEqual(["response"]);
  });

  it("text that matches the schema is the output; other text is sent back a limited number of times", async () => {
    const world = await createWorld();
    const { agent, model } = await createAgent(world, ["Three.", '```json\n{"total": 3}\n```'], {
      outputSchema: schema,
      tools: [createOrders().order],
    });
    expect((await agent.invoke(ask("Count."))).output).toEqual({ total: 3 });
    expect(model.requests[1]?.text).toContain("response");
    const stubborn = await createAgent(world, ["No.", "No.", "No.", "No."], { outputSchema: schema });
    const failed = await stubborn.agent.invoke(ask("Count."));
    expect(failed).toMatchObject({
      status: "failed",
      stop: "no-output",
      outputError: expect.stringContaining("JSON") as string,
    });
    expect("output" in failed).toBe(false);
  });

  it("a model with structured output uses it, if there are no other tools", async () => {
    const world = await createWorld();
    const seen: unknown[] = [];
    const { agent, model } = await createAgent(world, ['{"total":2}'], { outputSchema: schema });
    const generate = model.doGenerate.bind(model);
    Object.assign(model, {
      doGenerate: (options: Parameters<typeof generate>[0] & { responseFormat?: unknown }) => {
        seen.push(options.responseFormat);
        return generate(options);
      },
    });
    expect((await agent.invoke(ask("Count."))).output).toEqual({ total: 2 });
    expect(seen).toMatchObject([{ type: "json", schema: { properties: { total: { type: "number" } } } }]);
  });

  it("an output that is not an object is wrapped in one, and asynchronous refinements are awaited", async () => {
    const world = await createWorld();
    const outputSchema = z
      .number()
      .refine(async (value) => (await Promise.resolve(value)) > 1, "more than 1");
    const { agent, model } = await createAgent(world, ['{"input":1}', '{"input":2}'], { outputSchema });
    expect((await agent.invoke(ask("Count."))).output).toBe(2);
    expect(model.requests[1]?.text).toContain("more than 1");
    const called = await createAgent(
      world,
      [[call("response", { input: 1 })], [call("response", { input: 3 })]],
      { outputSchema },
    );
    expect((await called.agent.invoke(ask("Count."))).output).toBe(3);
  });

  it("null is an output, bare or inside a field", async () => {
    const world = await createWorld();
    const outputSchema = z.object({ found: z.string() }).nullable();
    for (const input of ["null", { input: null }]) {
      const { agent } = await createAgent(world, [[call("response", input)]], { outputSchema });
      const result = await agent.invoke(ask("Find it."));
      expect(result).toMatchObject({ status: "finished", stop: "output", output: null });
      expect("output" in result).toBe(true);
    }
  });

  it("text that makes the schema throw, or that parses to a value which cannot be stored, is sent back", async () => {
    const world = await createWorld();
    const outputSchema = z.object({ total: z.number() }).transform(({ total }) => {
      if (total === 0) throw new Error("no total");
      return total === 1 ? { make: () => 1 } : { total };
    });
    const { agent, model } = await createAgent(world, ['{"total":0}', '{"total":1}', '{"total":2}'], {
      outputSchema,
    });
    expect((await agent.invoke(ask("Count."))).output).toEqual({ total: 2 });
    expect(model.requests[1]?.text).toContain("no total");
    expect(model.requests[2]?.text).toContain("cannot be stored");
  });

  it("waits when another call of the same response waits, and then is the output", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const { agent } = await createAgent(
      world,
      [[call("response", { total: 5 }), call("order", { sku: "a" })]],
      {
        outputSchema: schema,
        tools: [order],
      },
    );
    const paused = await agent.invoke(ask("Go."));
    expect(paused.status).toBe("waiting");
    expect("output" in paused).toBe(false);
    const id = paused.state.pendingApprovals[0]?.id ?? "";
    const done = await agent.invoke(agent.resolveToolApproval(paused.state, { id, approved: true }));
    expect(done.output).toEqual({ total: 5 });
    expect(placed).toEqual(["a"]);
  });
});

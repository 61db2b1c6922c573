import { describe, expect, it } from "vitest";
import { ask, call, createAgent, createWorld, eventsOf } from "./harness.ts";

const todo = (input: object) => call("manage_todo_list", input);
const item = (id: number | string, more: object = {}) => ({ id, title: `step ${id}`, ...more });

/** The results of these calls, made in sequence. */
async function answersOf(
  inputs: readonly object[],
): Promise<{ answers: unknown[]; plan: unknown; events: unknown[] }> {
  const world = await createWorld();
  const answers: unknown[] = [];
  const { agent, events } = await createAgent(world, [
    ...inputs.map((input) => ({ toolResults }: { toolResults: readonly { output: unknown }[] }) => {
      answers.push(...toolResults.map(({ output }) => output));
      return [todo(input)];
    }),
    ({ toolResults }) => {
      answers.push(...toolResults.map(({ output }) => output));
      return "Done.";
    },
  ]);
  const { state } = await agent.invoke(ask("Plan."));
  return { answers, plan: state.plan, events: eventsOf(events, "plan") };
}

describe("manage_todo_list", () => {
  it("writes, updates and reads; every result has the version and the list", async () => {
    const { answers, plan, events } = await answersOf([
      { operation: "read" },
      { operation: "write", todoList: [item(1), item(2)], expectedVersion: 0 },
      { operation: "update", todoList: [{ id: 1, status: "in-progress" }], expectedVersion: 1 },
      {
        operation: "update",
        todoList: [
          { id: 1, status: "completed", evidence: "seen" },
          { id: 2, status: "in-progress" },
        ],
      },
      { operation: "read" },
    ]);
    expect(answers).toMatchObject([
      { version: 0, todoList: [] },
      {
        version: 1,
        todoList: [
          { id: 1, status: "not-started" },
          { id: 2, status: "not-started" },
        ],
      },
      { version: 2, todoList: [{ id: 1, title: "step 1", status: "in-progress" }, { id: 2 }] },
      {
        version: 3,
        todoList: [
          { id: 1, status: "completed", evidence: "seen" },
          { id: 2, status: "in-progress" },
        ],
      },
      { version: 3, todoList: [{ id: 1 }, { id: 2 }] },
    ]);
    expect(plan).toMatchObject({
      version: 3,
      todoList: [
        { id: 1, status: "completed" },
        { id: 2, status: "in-progress" },
      ],
    });
    expect(events).toMatchObject([
      { version: 0 },
      { version: 1, operation: "write" },
      { version: 2 },
      { version: 3 },
      { version: 3 },
    ]);
  });

  it("refuses a stale write or update, and returns the current list", async () => {
    const { answers, plan } = await answersOf([
      { operation: "write", todoList: [item(1)] },
      { operation: "write", todoList: [item(9)], expectedVersion: 0 },
      { operation: "update", todoList: [{ id: 1, status: "blocked" }], expectedVersion: 7 },
    ]);
    expect(answers.slice(1)).toMatchObject([
      {
        is_error: true,
        error_type: "plan_stale",
        message: expect.stringContaining("version 1, not 0") as string,
        version: 1,
        todoList: [{ id: 1 }],
      },
      { is_error: true, error_type: "plan_stale", version: 1, todoList: [{ id: 1, status: "not-started" }] },
    ]);
    expect(plan).toMatchObject({ version: 1, todoList: [{ id: 1, status: "not-started" }] });
  });

  it.each([
    [{ operation: "write", todoList: [item(1), item(1)] }, "ids must differ"],
    [{ operation: "write", todoList: [item(1), item("1")] }, "ids must differ"],
    [
      {
        operation: "write",
        todoList: [item(1, { status: "in-progress" }), item(2, { status: "in-progress" })],
      },
      "at most one",
    ],
    [{ operation: "write", todoList: [{ id: 1 }] }, "no title"],
    [{ operation: "write" }, "needs todoList"],
    [{ operation: "erase" }, "operation: Invalid option"],
    [{ operation: "write", todoList: [{ id: 1, title: "a", status: "done" }] }, "todoList.0.status"],
    [{ operation: "write", todoList: [{ id: 1.5, title: "a" }] }, "todoList.0.id"],
    [{ operation: "read", expectedVersion: "1" }, "expectedVersion"],
    [[], "the input"],
    [{ operation: "update", todoList: [{ id: 1, status: "completed" }] }, "no plan yet"],
  ])("refuses %j", async (input, message) => {
    const { answers, plan } = await answersOf([input]);
    expect(answers).toMatchObject([
      { is_error: true, message: expect.stringContaining(message) as string, version: 0, todoList: [] },
    ]);
    expect(plan).toBeNull();
  });

  it("refuses updates of missing items, and updates that would leave two in progress", async () => {
    const { answers } = await answersOf([
      { operation: "write", todoList: [item(1, { status: "in-progress" }), item(2)] },
      { operation: "update", todoList: [{ id: 3, status: "completed" }] },
      { operation: "update", todoList: [{ id: 2, status: "in-progress" }] },
    ]);
    expect(answers.slice(1)).toMatchObject([
      { is_error: true, message: expect.stringContaining("there are: 1, 2") as string, version: 1 },
      {
        is_error: true,
        message: expect.stringContaining("Items 1, 2 are in-progress") as string,
        version: 1,
      },
    ]);
  });

  it("of two updates in one response with one version, one counts", async () => {
    const world = await createWorld();
    const { agent, model } = await createAgent(world, [
      [todo({ operation: "write", todoList: [item(1)] })],
      [
        todo({ operation: "update", todoList: [{ id: 1, status: "blocked" }], expectedVersion: 1 }),
        todo({ operation: "update", todoList: [{ id: 1, status: "completed" }], expectedVersion: 1 }),
      ],
      "Done.",
    ]);
    const { state } = await agent.invoke(ask("Plan."));
    expect(
      model.requests[2]?.toolResults.filter(({ output }) => (output as { is_error?: boolean }).is_error),
    ).toHaveLength(1);
    expect(state.planVersion).toBe(2);
  });

  it("keeps the plan after a crash", async () => {
    const world = await createWorld();
    const script = [[todo({ operation: "write", todoList: [item(1)] })], new Error("power cut")];
    const first = await createAgent(world, script);
    await expect(first.agent.invoke(ask("Plan.", "r1"))).rejects.toThrow("power cut");
    await world.killAll();
    const second = await createAgent(world, [
      [todo({ operation: "update", todoList: [{ id: 1, status: "completed" }], expectedVersion: 1 })],
      "Done.",
    ]);
    const { state } = await second.agent.invoke({ runId: "r1" });
    expect(state.plan).toMatchObject({ version: 2, todoList: [{ id: 1, status: "completed" }] });
  });

  it("resumes the plan when its process dies between two changes of one response", async () => {
    const world = await createWorld();
    const abort = new AbortController();
    const changes = [
      todo({ operation: "write", todoList: [item(1), item(2)] }),
      todo({ operation: "update", todoList: [{ id: 1, status: "completed" }], expectedVersion: 1 }),
      todo({ operation: "update", todoList: [{ id: 2, status: "in-progress" }], expectedVersion: 2 }),
    ];
    const limits = { maxParallelTools: 1 };
    const first = await createAgent(world, [changes], {
      limits,
      onEvent: (event) =>
        event.type === "tool_call" && event.phase === "success" ? abort.abort() : undefined,
    });
    await expect(first.agent.invoke(ask("Plan.", "r1"), { signal: abort.signal })).rejects.toMatchObject({
      code: "TOOL_ABORTED",
    });
    await world.killAll();
    const second = await createAgent(world, ["Done."], { limits });
    const { state } = await second.agent.invoke({ runId: "r1" });
    expect(second.model.requests[0]?.toolResults).toMatchObject([
      { output: { version: 1 } },
      { output: { version: 2 } },
      { output: { version: 3 } },
    ]);
    expect(state.plan).toMatchObject({
      version: 3,
      todoList: [{ status: "completed" }, { status: "in-progress" }],
    });
  });

  it("is not offered when planning is off", async () => {
    const world = await createWorld();
    const { agent, model } = await createAgent(world, ["Hi."], { planning: { mode: "off" } });
    await agent.invoke(ask("Hi."));
    expect(model.requests[0]?.toolNames).toEqual(["get_tool_response"]);
  });
});

/** A resumed run reuses finished tasks, responses and calls, and reports differences. */
import {
  createRuntime,
  createSmithers,
  defineTool,
  runWorkflow,
  type RunWorkflowOptions,
  type Store,
  ToolwrightError,
  type WorkflowEvent,
} from "toolwright";
import {
  createFakeClock,
  createMemoryStore,
  createScriptedModel,
  type ScriptedTurn,
} from "toolwright/testing";
import { ToolLoopAgent } from "ai";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { createStorePath, endAllOwners, rowsOf, scriptedAgent, until } from "./harness.ts";

const schemas = { result: z.object({ done: z.boolean() }), step: z.object({ at: z.string() }) };

function orderTool(placed: string[], onOrder: (sku: string) => void = () => undefined) {
  return defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    idempotent: false,
    execute: ({ sku }, ctx) => {
      onOrder(sku);
      placed.push(`${sku} in attempt ${ctx.attempt}`);
      return { sku };
    },
  });
}

/** Chooses the response by the number of responses before it. */
function byTurn(...turns: readonly ScriptedTurn[]): ScriptedTurn {
  return (request) => {
    const turn = turns[request.prompt.filter(({ role }) => role === "assistant").length] ?? "no more turns";
    return typeof turn === "function" ? turn(request) : turn;
  };
}

function textOf(request: { readonly prompt: readonly unknown[] } | undefined): string {
  return JSON.stringify(request?.prompt ?? []);
}

describe("finding runs", () => {
  const simple = (dbPath: string) => {
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    let runs = 0;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.step}>
          {() => ({ at: String((runs += 1)) })}
        </Task>
      </Workflow>
    ));
    return workflow;
  };

  it("a run id that exists is refused, with the status of that run", async () => {
    const workflow = simple(createStorePath());
    await runWorkflow(workflow, { runId: "r" });
    await expect(runWorkflow(workflow, { runId: "r" })).rejects.toMatchObject({
      code: "WORKFLOW_RUN_EXISTS",
      message: expect.stringMatching(/"r".*finished/) as string,
    });
  });

  it("a resume of a run that does not exist is refused", async () => {
    await expect(
      runWorkflow(simple(createStorePath()), { runId: "missing", resume: true }),
    ).rejects.toMatchObject({
      code: "TOOL_RUN_NOT_FOUND",
      message: expect.stringContaining("missing") as string,
    });
  });

  it("a resume without a run id is refused", async () => {
    await expect(runWorkflow(simple(createStorePath()), { resume: true })).rejects.toThrow(/runId/);
  });

  it("a resume of a finished run returns the stored result", async () => {
    const workflow = simple(createStorePath());
    const first = await runWorkflow(workflow, { runId: "r" });
    const again = await runWorkflow(workflow, { runId: "r", resume: true });
    expect(again).toEqual(first);
    expect(again.output).toEqual({ at: "1" });
  });

  it("with resume: auto, a program starts its run the first time and resumes it when it is started again", async () => {
    const { Workflow, Task, smithers, outputs } = createSmithers(
      { input: z.object({ a: z.number(), b: z.number().default(7) }), step: schemas.step },
      { dbPath: createStorePath() },
    );
    const stop = new AbortController();
    const ran: string[] = [];
    const step = (name: string) => (
      <Task id={name} output={outputs.step}>
        {() => {
          ran.push(name);
          if (name === "first") stop.abort();
          return { at: name };
        }}
      </Task>
    );
    const workflow = smithers(() => (
      <Workflow name="w">
        {step("first")}
        {step("second")}
      </Workflow>
    ));
    const start = (options: RunWorkflowOptions) =>
      runWorkflow(workflow, { runId: "r", resume: "auto", ...options });
    expect((await start({ input: { a: 1, b: 7 }, signal: stop.signal })).status).toBe("cancelled");
    const again = await start({ input: { a: 1 } });
    expect(again).toMatchObject({ status: "finished", output: { at: "second" } });
    expect(await start({ input: { a: 1 } })).toEqual(again);
    expect(ran).toEqual(["first", "second"]);
    await expect(start({ input: { a: 2 } })).rejects.toMatchObject({
      code: "WORKFLOW_RUN_EXISTS",
      message: expect.stringContaining("a different input") as string,
    });
    await expect(runWorkflow(workflow, { resume: "auto" })).rejects.toThrow(/runId/);
    await expect(runWorkflow(workflow, { runId: "r", resume: "yes" as "auto" })).rejects.toThrow(/"auto"/);
  });

  it("a run that is running in this process is not started a second time by a resume", async () => {
    const dbPath = createStorePath();
    const { Workflow, Task, smithers } = createSmithers(schemas, { dbPath });
    let release: () => void = () => undefined;
    let begun = 0;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t">
          {() => {
            begun += 1;
            return new Promise<number>((resolve) => {
              release = () => resolve(1);
            });
          }}
        </Task>
      </Workflow>
    ));
    const first = runWorkflow(workflow, { runId: "r" });
    await until(() => begun === 1);
    await expect(runWorkflow(workflow, { runId: "r", resume: true })).rejects.toMatchObject({
      code: "TOOL_RUN_CONFLICT",
    });
    release();
    expect((await first).status).toBe("finished");
    expect(begun).toBe(1);
  });

  it("invalid input is refused, and no run is stored", async () => {
    const dbPath = createStorePath();
    const { Workflow, smithers } = createSmithers({ input: z.object({ n: z.number() }) }, { dbPath });
    const workflow = smithers(() => <Workflow name="w" />);
    await expect(runWorkflow(workflow, { runId: "r", input: { n: "one" } })).rejects.toMatchObject({
      code: "WORKFLOW_INPUT_INVALID",
    });
    expect((await runWorkflow(workflow, { runId: "r", input: { n: 1 } })).status).toBe("finished");
  });

  it("a resume uses the input of the start", async () => {
    const dbPath = createStorePath();
    const { Workflow, Task, smithers, outputs } = createSmithers(
      { input: z.object({ when: z.date(), n: z.number().default(7) }), step: schemas.step },
      { dbPath },
    );
    const stop = new AbortController();
    const workflow = smithers((ctx) => (
      <Workflow name="w">
        <Task id="t" output={outputs.step}>
          {() => {
            if (!stop.signal.aborted) {
              stop.abort();
              throw new Error("stopped");
            }
            return { at: `${ctx.input.when.toISOString()} ${ctx.input.n}` };
          }}
        </Task>
      </Workflow>
    ));
    await runWorkflow(workflow, { runId: "r", input: { when: new Date(0) }, signal: stop.signal });
    const { output } = await runWorkflow(workflow, { runId: "r", resume: true });
    expect(output).toEqual({ at: "1970-01-01T00:00:00.000Z 7" });
  });
});

describe("finished tasks", () => {
  it("never run again, of any kind", async () => {
    const dbPath = createStorePath();
    const { Workflow, Task, Parallel, smithers, outputs } = createSmithers(schemas, { dbPath });
    const ran: string[] = [];
    const stop = new AbortController();
    const { agent, model } = scriptedAgent(['{"done":true}']);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Task id="agent" agent={agent} output={outputs.result}>
            Do it.
          </Task>
          <Task id="compute" output={outputs.step}>
            {() => {
              ran.push("compute");
              return { at: "compute" };
            }}
          </Task>
          <Task id="nothing">
            {() => {
              ran.push("nothing");
            }}
          </Task>
        </Parallel>
        <Task id="stop" output={outputs.step}>
          {() => {
            if (!stop.signal.aborted) {
              stop.abort();
              throw new Error("stopped");
            }
            return { at: "end" };
          }}
        </Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow, { runId: "r", signal: stop.signal })).status).toBe("cancelled");
    expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("finished");
    expect(ran.sort()).toEqual(["compute", "nothing"]);
    expect(model.requests).toHaveLength(1);
  });

  it("leave no responses and no prompts", async () => {
    const dbPath = createStorePath();
    const { Workflow, Task, Loop, smithers, outputs } = createSmithers(schemas, { dbPath });
    const { agent } = scriptedAgent(["not JSON", '{"done":true}']);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Loop until={false} maxIterations={2}>
          <Task id="t" agent={agent} output={outputs.result}>
            The secret word is xyzzy.
          </Task>
        </Loop>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).status).toBe("finished");
    expect(await rowsOf(dbPath, "SELECT * FROM toolwright_responses")).toEqual([]);
    expect(JSON.stringify(await rowsOf(dbPath, "SELECT * FROM toolwright_tasks"))).not.toContain("xyzzy");
  });

  it("store their start and end times", async () => {
    const dbPath = createStorePath();
    const clock = createFakeClock();
    await using runtime = createRuntime({ store: dbPath, clock });
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    const { agent } = scriptedAgent([
      async () => {
        await clock.advance(50);
        return '{"done":true}';
      },
    ]);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Go.
        </Task>
      </Workflow>
    ));
    await runWorkflow(workflow, { runtime });
    const [row] = await rowsOf(dbPath, "SELECT * FROM toolwright_tasks");
    expect(Number(row?.["finished_at_ms"]) - Number(row?.["started_at_ms"])).toBe(50);
  });
});

describe("an agent task that was interrupted", () => {
  /** The orders of one turn are placed in parallel, in any order. */
  const PLACED = ["a in attempt 1", "a in attempt 1", "b in attempt 1"];

  /** Ends its first run while the agent is at the given turn. */
  function cutOff(dbPath: string, cutAt: number, placed: string[]) {
    const stop = new AbortController();
    const asked: number[] = [];
    const order = orderTool(placed);
    const turns: ScriptedTurn[] = [
      [
        { toolName: "order", input: { sku: "a" } },
        { toolName: "order", input: { sku: "b" } },
      ],
      [{ toolName: "order", input: { sku: "a" } }],
      "This is not JSON.",
      '{"done":true}',
    ];
    const make = (options: { readonly prompt?: string; readonly instructions?: string } = {}) => {
      const model = createScriptedModel(
        [
          (request) => {
            const turn = request.prompt.filter(({ role }) => role === "assistant").length;
            asked.push(turn);
            if (turn === cutAt && !stop.signal.aborted) {
              stop.abort();
              return new Error("stopped");
            }
            return turns[turn] as string;
          },
        ],
        { atEnd: "repeat-last" },
      );
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      const agent = new ToolLoopAgent({
        model,
        tools: { order },
        ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
      });
      return smithers(() => (
        <Workflow name="w">
          <Task id="t" agent={agent} output={outputs.result}>
            {options.prompt ?? "Order a and b, then a again."}
          </Task>
        </Workflow>
      ));
    };
    return { make, asked, stop };
  }

  it.each([0, 1, 2, 3])("resumes live at turn %s and requests no logged response again", async (cutAt) => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    const { make, asked, stop } = cutOff(dbPath, cutAt, placed);
    expect((await runWorkflow(make(), { runId: "r", signal: stop.signal })).status).toBe("cancelled");
    const events: WorkflowEvent[] = [];
    const second = await runWorkflow(make(), {
      runId: "r",
      resume: true,
      onProgress: (event) => events.push(event),
    });
    expect(second).toMatchObject({ status: "finished", output: { done: true } });
    expect(asked).toEqual([...[0, 1, 2, 3].slice(0, cutAt + 1), ...[0, 1, 2, 3].slice(cutAt)]);
    expect(placed.toSorted()).toEqual(PLACED);
    expect(events.filter(({ type }) => type === "replay-diverged")).toEqual([]);
  });

  it("resumes in the same attempt, with its original prompt", async () => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    const { make, asked, stop } = cutOff(dbPath, 2, placed);
    await runWorkflow(make({ prompt: "It is 9:00. Order." }), { runId: "r", signal: stop.signal });
    const events: WorkflowEvent[] = [];
    const second = await runWorkflow(make({ prompt: "It is 10:00. Order." }), {
      runId: "r",
      resume: true,
      onProgress: (event) => events.push(event),
    });
    expect(second.status).toBe("finished");
    expect(asked).toEqual([0, 1, 2, 2, 3]);
    expect(events.map(({ type }) => type)).not.toContain("replay-diverged");
    expect(events.at(-1)).toMatchObject({ status: "finished", attempt: 1 });
  });

  it("resumes with its original instructions", async () => {
    const dbPath = createStorePath();
    const { make, asked, stop } = cutOff(dbPath, 2, []);
    await runWorkflow(make({ instructions: "It is 9:00." }), { runId: "r", signal: stop.signal });
    const events: WorkflowEvent[] = [];
    await runWorkflow(make({ instructions: "It is 10:00." }), {
      runId: "r",
      resume: true,
      onProgress: (event) => events.push(event),
    });
    expect(events.map(({ type }) => type)).not.toContain("replay-diverged");
    expect(asked).toEqual([0, 1, 2, 2, 3]);
  });

  it("rule 12: whose loop makes another request continues live, reports it, and repeats no effect", async () => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    const { make, asked, stop } = cutOff(dbPath, 2, placed);
    await runWorkflow(make(), { runId: "r", signal: stop.signal });
    // As if the description of a tool had changed.
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    const { agent, model } = scriptedAgent(
      [
        byTurn(
          [
            { toolName: "order", input: { sku: "a" } },
            { toolName: "order", input: { sku: "b" } },
          ],
          '{"done":true}',
        ),
      ],
      { tools: { order: orderTool(placed), another: orderTool(placed) } },
    );
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Order a and b, then a again.
        </Task>
      </Workflow>
    ));
    const events: WorkflowEvent[] = [];
    const second = await runWorkflow(workflow, {
      runId: "r",
      resume: true,
      onProgress: (event) => events.push(event),
    });
    expect(second.status).toBe("finished");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "replay-diverged", nodeId: "t", position: 0 }),
    );
    expect(model.requests).toHaveLength(2);
    // Rule 12: the model is warned about earlier calls that it has not repeated.
    for (const { prompt } of model.requests) {
      const told = JSON.stringify(prompt);
      expect(told).toContain("Before it was interrupted, this task made these calls");
      expect(told.split("attempt 1: order(").length - 1).toBe(3);
    }
    expect(placed.toSorted()).toEqual(PLACED);
    expect(asked).toEqual([0, 1, 2]);
  });

  it("whose call had an unknown outcome requests no later response again, however often it resumes", async () => {
    const dbPath = createStorePath();
    const asked: number[] = [];
    const events: WorkflowEvent[] = [];
    let phase = 0;
    const stops = [new AbortController(), new AbortController(), new AbortController()];
    const make = () => {
      const order = defineTool({
        name: "order",
        schema: z.object({ sku: z.string() }),
        sideEffect: true,
        execute: ({ sku }, ctx) => {
          if (phase > 0) return { sku, key: ctx.idempotencyKey };
          stops[0]?.abort();
          return new Promise<{ sku: string; key: string | null }>(() => undefined);
        },
      });
      const model = createScriptedModel(
        [
          ({ prompt }) => {
            const turn = prompt.filter(({ role }) => role === "assistant").length;
            asked.push(turn);
            if (turn === 2 && phase === 1) {
              stops[1]?.abort();
              return new Error("stopped");
            }
            return turn === 0
              ? [{ toolName: "order", input: { sku: "a" } }]
              : turn === 1
                ? [{ toolName: "order", input: { sku: "b" } }]
                : '{"done":true}';
          },
        ],
        { atEnd: "repeat-last" },
      );
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      const agent = new ToolLoopAgent({ model, tools: { order } });
      return smithers(() => (
        <Workflow name="w">
          <Task id="t" agent={agent} output={outputs.result}>
            Order.
          </Task>
        </Workflow>
      ));
    };
    for (phase = 0; phase < 3; phase += 1) {
      const result = await runWorkflow(make(), {
        runId: "r",
        resume: phase > 0,
        signal: stops[phase]?.signal,
        onProgress: (event) => events.push(event),
      });
      expect(result.status).toBe(phase < 2 ? "cancelled" : "finished");
    }
    expect(events.filter(({ type }) => type === "replay-diverged")).toEqual([]);
    expect(asked).toEqual([0, 1, 2, 2]);
  });

  it("with a model given by name logs its responses too", async () => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    const asked: number[] = [];
    const stop = new AbortController();
    const model = createScriptedModel(
      [
        ({ prompt }) => {
          const turn = prompt.filter(({ role }) => role === "assistant").length;
          asked.push(turn);
          if (turn === 1 && !stop.signal.aborted) {
            stop.abort();
            return new Error("stopped");
          }
          return turn === 0 ? [{ toolName: "order", input: { sku: "a" } }] : '{"done":true}';
        },
      ],
      { atEnd: "repeat-last" },
    );
    const world = globalThis as { AI_SDK_DEFAULT_PROVIDER?: unknown };
    const before = world.AI_SDK_DEFAULT_PROVIDER;
    world.AI_SDK_DEFAULT_PROVIDER = { specificationVersion: "v4", languageModel: () => model };
    try {
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      const agent = new ToolLoopAgent({ model: "scripted/model", tools: { order: orderTool(placed) } });
      const workflow = smithers(() => (
        <Workflow name="w">
          <Task id="t" agent={agent} output={outputs.result}>
            Order.
          </Task>
        </Workflow>
      ));
      expect((await runWorkflow(workflow, { runId: "r", signal: stop.signal })).status).toBe("cancelled");
      expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("finished");
    } finally {
      world.AI_SDK_DEFAULT_PROVIDER = before;
    }
    expect(asked).toEqual([0, 1, 1]);
    expect(placed).toEqual(["a in attempt 1"]);
  });
});

describe("a retried agent task", () => {
  it("starts over with a warning about earlier calls, and logged calls are not repeated", async () => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    let fails = 1;
    const { agent, model } = scriptedAgent(
      [
        byTurn([{ toolName: "order", input: { sku: "a" } }], () => {
          fails -= 1;
          return fails >= 0 ? new Error("overloaded") : '{"done":true}';
        }),
      ],
      { tools: { order: orderTool(placed) } },
    );
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Order a.
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow, { runId: "r" });
    expect(result.status).toBe("finished");
    expect(placed).toEqual(["a in attempt 1"]);
    const second = textOf(model.requests[2]);
    expect(second).toMatch(/Earlier attempts.*attempt 1: order.*success.*Order a\./);
    await using runtime = createRuntime({ store: dbPath });
    const calls = await runtime.calls({ runId: "r" });
    expect(calls.map(({ attempt, status, replayed }) => [attempt, status, replayed])).toEqual([
      [1, "success", false],
      [2, "success", true],
    ]);
  });

  it("that is interrupted in its second attempt resumes it, with the same warning", async () => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    const stop = new AbortController();
    const asked: string[] = [];
    const make = () => {
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      const { agent } = scriptedAgent(
        [
          ({ prompt }) => {
            const turn = prompt.filter(({ role }) => role === "assistant").length;
            const attempt = textOf({ prompt }).includes("Earlier attempts") ? 2 : 1;
            asked.push(`${attempt}.${turn}`);
            if (turn === 0) return [{ toolName: "order", input: { sku: "a" } }];
            if (attempt === 1) return new Error("overloaded");
            if (turn === 1) return [{ toolName: "order", input: { sku: "b" } }];
            if (stop.signal.aborted) return '{"done":true}';
            stop.abort();
            return new Error("stopped");
          },
        ],
        { tools: { order: orderTool(placed) } },
      );
      return smithers(() => (
        <Workflow name="w">
          <Task id="t" agent={agent} output={outputs.result}>
            Order a.
          </Task>
        </Workflow>
      ));
    };
    expect((await runWorkflow(make(), { runId: "r", signal: stop.signal })).status).toBe("cancelled");
    expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("finished");
    expect(asked).toEqual(["1.0", "1.1", "2.0", "2.1", "2.2", "2.2"]);
    expect(placed).toEqual(["a in attempt 1", "b in attempt 2"]);
  });
});

describe("a failed run", () => {
  it("starts a further attempt when it is resumed", async () => {
    const dbPath = createStorePath();
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    let tries = 0;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.step} retries={1}>
          {() => {
            tries += 1;
            if (tries < 3) throw new Error("not yet");
            return { at: String(tries) };
          }}
        </Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow, { runId: "r" })).status).toBe("failed");
    expect(await runWorkflow(workflow, { runId: "r", resume: true })).toMatchObject({
      status: "finished",
      output: { at: "3" },
      error: undefined,
    });
  });
});

it("a run whose store failed resumes in the same runtime", async () => {
  const { Workflow, Task, smithers, outputs } = createSmithers(schemas);
  const inner = await createMemoryStore();
  let isLost = false;
  const lost = () => Promise.reject(new ToolwrightError("TOOL_STORE_FAILED", "The connection is lost."));
  const store: Store = {
    dialect: inner.dialect,
    secret: inner.secret,
    transaction: (work, level) => (isLost ? lost() : inner.transaction(work, level)),
    read: (work) => (isLost ? lost() : inner.read(work)),
    close: () => inner.close(),
  };
  await using runtime = createRuntime({ store });
  let runs = 0;
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="t" output={outputs.step}>
        {() => {
          runs += 1;
          isLost = runs === 1;
          return { at: String(runs) };
        }}
      </Task>
    </Workflow>
  ));
  await expect(runWorkflow(workflow, { runtime, runId: "r" })).rejects.toMatchObject({
    code: "TOOL_STORE_FAILED",
  });
  isLost = false;
  expect(await runWorkflow(workflow, { runtime, runId: "r", resume: true })).toMatchObject({
    status: "finished",
    output: { at: "2" },
  });
});

it("outputs keep their order when the clock of the second process is behind", async () => {
  const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath: createStorePath() });
  const stop = new AbortController();
  const workflow = smithers(() => (
    <Workflow name="w">
      <Task id="a" output={outputs.step}>
        {{ at: "a" }}
      </Task>
      <Task id="b" output={outputs.step}>
        {() => {
          stop.abort();
          return { at: "b" };
        }}
      </Task>
      <Task id="c" output={outputs.step}>
        {{ at: "c" }}
      </Task>
    </Workflow>
  ));
  await runWorkflow(workflow, { runId: "r", signal: stop.signal });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  await runWorkflow(workflow, { runId: "r", resume: true });
  const { output, outputs: rows } = await runWorkflow(workflow, { runId: "r", resume: true });
  expect(rows["step"]).toEqual([{ at: "a" }, { at: "b" }, { at: "c" }]);
  expect(output).toEqual({ at: "c" });
});

describe("an owner whose run was taken over", () => {
  it("can no longer write, starts nothing, and fails", async () => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    let release: () => void = () => undefined;
    let isHeld = false;
    const make = (name: string, holds: boolean) => {
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      return smithers(() => (
        <Workflow name="w">
          <Task id="slow" output={outputs.step}>
            {async () => {
              if (holds) {
                isHeld = true;
                await new Promise<void>((resolve) => {
                  release = resolve;
                });
              }
              return { at: name };
            }}
          </Task>
          <Task id="next" output={outputs.step}>
            {async () => {
              await orderTool(placed).execute({ sku: name });
              return { at: name };
            }}
          </Task>
        </Workflow>
      ));
    };
    const first = runWorkflow(make("first", true), { runId: "r" });
    first.catch(() => undefined);
    await until(() => isHeld);
    await endAllOwners(dbPath);
    const second = await runWorkflow(make("second", false), { runId: "r", resume: true });
    expect(second).toMatchObject({ status: "finished" });
    release();
    await expect(first).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
    expect(placed).toEqual(["second in attempt 1"]);
    const again = await runWorkflow(make("third", false), { runId: "r", resume: true });
    expect(again.outputs["step"]).toEqual([{ at: "second" }, { at: "second" }]);
  });

  it("cannot call tools in its current task", async () => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    let release: () => void = () => undefined;
    let isHeld = false;
    const make = (name: string, holds: boolean) => {
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      return smithers(() => (
        <Workflow name="w">
          <Task id="t" output={outputs.step}>
            {async () => {
              if (holds) {
                isHeld = true;
                await new Promise<void>((resolve) => {
                  release = resolve;
                });
              }
              await orderTool(placed).execute({ sku: name });
              return { at: name };
            }}
          </Task>
        </Workflow>
      ));
    };
    const first = runWorkflow(make("first", true), { runId: "r" });
    first.catch(() => undefined);
    await until(() => isHeld);
    await endAllOwners(dbPath);
    expect(await runWorkflow(make("second", false), { runId: "r", resume: true })).toMatchObject({
      status: "finished",
    });
    release();
    await expect(first).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
    expect(placed).toEqual(["second in attempt 1"]);
  });

  it("whose agent gets an answer cannot log it", async () => {
    const dbPath = createStorePath();
    const placed: string[] = [];
    let release: () => void = () => undefined;
    let isHeld = false;
    const make = (holds: boolean) => {
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      const { agent } = scriptedAgent(
        [
          byTurn(async () => {
            if (holds) {
              isHeld = true;
              await new Promise<void>((resolve) => {
                release = resolve;
              });
              return [{ toolName: "order", input: { sku: "first" } }];
            }
            return [{ toolName: "order", input: { sku: "second" } }];
          }, '{"done":true}'),
        ],
        { tools: { order: orderTool(placed) } },
      );
      return smithers(() => (
        <Workflow name="w">
          <Task id="t" agent={agent} output={outputs.result}>
            Order.
          </Task>
        </Workflow>
      ));
    };
    const first = runWorkflow(make(true), { runId: "r" });
    first.catch(() => undefined);
    await until(() => isHeld);
    await endAllOwners(dbPath);
    expect((await runWorkflow(make(false), { runId: "r", resume: true })).status).toBe("finished");
    release();
    await expect(first).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
    expect(placed).toEqual(["second in attempt 1"]);
    expect(await rowsOf(dbPath, "SELECT * FROM toolwright_responses")).toEqual([]);
  });
});

describe("options", () => {
  it("rule 33: of the start apply to the resume, limits and concurrency included", async () => {
    const dbPath = createStorePath();
    const stop = new AbortController();
    const tool = defineTool({ name: "look", schema: z.object({ n: z.number() }), execute: ({ n }) => n });
    const { Workflow, Task, Parallel, smithers, outputs } = createSmithers(schemas, { dbPath });
    let running = 0;
    let most = 0;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="stop" output={outputs.step}>
          {async () => {
            if (!stop.signal.aborted) {
              stop.abort();
              throw new Error("stopped");
            }
            return { at: "stop" };
          }}
        </Task>
        <Parallel>
          {[1, 2, 3].map((n) => (
            <Task id={`t${n}`} retries={0} continueOnFail output={outputs.step}>
              {async () => {
                running += 1;
                most = Math.max(most, running);
                await new Promise((resolve) => setTimeout(resolve, 5));
                running -= 1;
                return { at: String(await tool.execute({ n })) };
              }}
            </Task>
          ))}
        </Parallel>
      </Workflow>
    ));
    await runWorkflow(workflow, {
      runId: "r",
      signal: stop.signal,
      limits: { maxToolCalls: 2 },
      maxConcurrency: 1,
    });
    const result = await runWorkflow(workflow, { runId: "r", resume: true });
    expect(most).toBe(1);
    expect(result.outputs["step"]).toHaveLength(3);
  });
});

/** Loops: when they end, what their passes see, and that finished passes stay finished. */
import { createRuntime, createSmithers, defineTool, runWorkflow } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf } from "./harness.ts";

function create(dbPath = createStorePath()) {
  return createSmithers(
    {
      inner: z.object({ n: z.number() }),
      outer: z.object({ n: z.number() }),
      other: z.object({ n: z.number() }),
    },
    { dbPath },
  );
}

it("a loop runs at least once, and ends when until is true", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const workflow = smithers(() => (
    <Workflow name="w">
      <Loop until>
        <Task id="t" output={outputs.inner}>
          {{ n: 1 }}
        </Task>
      </Loop>
    </Workflow>
  ));
  expect((await runWorkflow(workflow)).outputs["inner"]).toEqual([{ n: 1 }]);
});

it("a loop that reaches its limit continues with its last pass by default", async () => {
  const { Workflow, Task, Ralph, smithers, outputs } = create();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Ralph until={false} maxIterations={3}>
        <Task id="t" output={outputs.inner}>
          {{ n: ctx.iteration }}
        </Task>
      </Ralph>
      <Task id="after" output={outputs.outer}>
        {{ n: ctx.latest(outputs.inner, "t")?.n ?? -1 }}
      </Task>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.outputs).toMatchObject({ inner: [{ n: 0 }, { n: 1 }, { n: 2 }], outer: [{ n: 2 }] });
});

it("a loop that reaches its limit fails the run if configured to, and names itself", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const workflow = smithers(() => (
    <Workflow name="w">
      <Loop id="polish" until={false} maxIterations={2} onMaxReached="fail">
        <Task id="t" output={outputs.inner}>
          {{ n: 1 }}
        </Task>
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result).toMatchObject({ status: "failed" });
  expect(result.error?.message).toMatch(/polish.*2/);
  expect(result.outputs["inner"]).toHaveLength(2);
});

it("two consecutive loops without ids each evaluate their own until", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop until={ctx.outputs.inner.length >= 4}>
        <Task id="a" output={outputs.inner}>
          {{ n: 0 }}
        </Task>
      </Loop>
      <Loop until={ctx.outputs.outer.length >= 2}>
        <Task id="b" output={outputs.outer}>
          {{ n: 0 }}
        </Task>
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.outputs["inner"]).toHaveLength(4);
  expect(result.outputs["outer"]).toHaveLength(2);
});

it("the number of the pass starts over in the second of two loops", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop id="first" until={ctx.outputs.inner.length >= 3}>
        <Task id="a" output={outputs.inner}>
          {{ n: ctx.iteration }}
        </Task>
      </Loop>
      <Loop id="second" until={ctx.outputs.outer.length >= 3}>
        <Task id="b" output={outputs.outer}>
          {{ n: ctx.iteration }}
        </Task>
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.outputs).toMatchObject({
    inner: [{ n: 0 }, { n: 1 }, { n: 2 }],
    outer: [{ n: 0 }, { n: 1 }, { n: 2 }],
  });
});

it("two parallel loops each count their own passes", async () => {
  const { Workflow, Task, Parallel, Loop, smithers, outputs } = create();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Parallel>
        <Loop id="first" until={ctx.outputs.inner.length >= 5}>
          <Task id="a" output={outputs.inner}>
            {{ n: ctx.outputs.inner.length }}
          </Task>
        </Loop>
        <Loop id="second" until={ctx.outputs.outer.length >= 2}>
          <Task id="b" output={outputs.outer}>
            {async () => {
              await new Promise((resolve) => setTimeout(resolve, 20));
              return { n: 0 };
            }}
          </Task>
        </Loop>
      </Parallel>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.outputs["inner"]).toHaveLength(5);
  expect(result.outputs["outer"]).toHaveLength(2);
});

/** Passes of the inner loop: two in each pass of the outer one, which makes three. */
function nested(dbPath: string, onRun: (place: string) => void = () => undefined) {
  const { Workflow, Task, Loop, smithers, outputs } = create(dbPath);
  return smithers((ctx) => {
    const rounds = ctx.outputs.outer.length;
    // In each round the inner loop ends when it has made two passes of this round.
    const inner = ctx.latest(outputs.inner, "in");
    return (
      <Workflow name="w">
        <Loop id="outside" until={rounds >= 3}>
          <Loop id="inside" until={inner !== undefined && inner.n % 2 === 1} maxIterations={4}>
            <Task id="in" output={outputs.inner}>
              {() => {
                onRun("in");
                return { n: ctx.outputs.inner.length };
              }}
            </Task>
          </Loop>
          <Task id="out" output={outputs.outer}>
            {() => {
              onRun("out");
              return { n: rounds };
            }}
          </Task>
        </Loop>
      </Workflow>
    );
  });
}

const NESTED_PLACES = ["in 0.0", "in 0.1", "in 1.0", "in 1.1", "in 2.0", "in 2.1", "out 0", "out 1", "out 2"];

/** Each stored task, with its path of loop indices. */
async function placesOf(dbPath: string): Promise<string[]> {
  const rows = await rowsOf(dbPath, "SELECT node_id, path FROM toolwright_tasks ORDER BY node_id, path");
  return rows.map((row) => `${String(row["node_id"])} ${String(row["path"])}`);
}

it("a loop in a loop starts over in each pass of the outer one, and finished passes stay finished", async () => {
  const dbPath = createStorePath();
  const ran: string[] = [];
  const result = await runWorkflow(
    nested(dbPath, (place) => ran.push(place)),
    { maxConcurrency: 1 },
  );
  expect(result.status).toBe("finished");
  expect(ran).toEqual(["in", "in", "out", "in", "in", "out", "in", "in", "out"]);
  expect(await placesOf(dbPath)).toEqual(NESTED_PLACES);
});

it("a loop in a loop that is interrupted in the second pass resumes there", async () => {
  const dbPath = createStorePath();
  const ran: string[] = [];
  const stop = new AbortController();
  const first = await runWorkflow(
    nested(dbPath, (place) => {
      ran.push(place);
      if (ran.length === 5) {
        ran.pop();
        stop.abort();
        throw new Error("stopped");
      }
    }),
    { runId: "r", signal: stop.signal },
  );
  expect(first.status).toBe("cancelled");
  const second = await runWorkflow(
    nested(dbPath, (place) => ran.push(place)),
    { runId: "r", resume: true },
  );
  expect(second.status).toBe("finished");
  expect(ran).toEqual(["in", "in", "out", "in", "in", "out", "in", "in", "out"]);
  expect(await placesOf(dbPath)).toEqual(NESTED_PLACES);
});

it("equal calls in the first pass of an inner loop are different calls in each pass of the outer one", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const keys: (string | null)[] = [];
  const order = defineTool({
    name: "order",
    schema: z.object({}),
    sideEffect: true,
    execute: (_args, ctx) => {
      keys.push(ctx.idempotencyKey);
      return keys.length;
    },
  });
  const workflow = smithers(() => (
    <Workflow name="w">
      <Loop id="outside" until={false} maxIterations={3}>
        <Loop id="inside" until={false} maxIterations={2}>
          <Task id="order" output={outputs.inner}>
            {async () => ({ n: await order.execute({}) })}
          </Task>
        </Loop>
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.outputs["inner"]).toEqual([1, 2, 3, 4, 5, 6].map((n) => ({ n })));
  expect(new Set(keys).size).toBe(6);
});

it("the number of the pass belongs to the innermost running loop", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop id="outside" until={false} maxIterations={2}>
        <Loop id="inside" until={false} maxIterations={3}>
          <Task id="in" output={outputs.inner}>
            {{ n: ctx.iteration }}
          </Task>
        </Loop>
        <Task id="out" output={outputs.outer}>
          {{ n: ctx.iteration }}
        </Task>
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.outputs["inner"]).toEqual([0, 1, 2, 0, 1, 2].map((n) => ({ n })));
  expect(result.outputs["outer"]).toEqual([0, 1].map((n) => ({ n })));
});

it("a finished loop is not entered again when the output that until reads has changed since", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop id="l" until={ctx.outputs.other.length === 0} maxIterations={5}>
        <Task id="t" output={outputs.inner}>
          {{ n: 1 }}
        </Task>
      </Loop>
      <Task id="after" output={outputs.other}>
        {{ n: 1 }}
      </Task>
      <Task id="last" output={outputs.outer}>
        {{ n: ctx.outputs.other.length }}
      </Task>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.outputs).toMatchObject({ inner: [{ n: 1 }], other: [{ n: 1 }], outer: [{ n: 1 }] });
});

it("an empty loop without a limit is an error instead of an endless loop", async () => {
  const { Workflow, Loop, smithers } = create();
  let renders = 0;
  const workflow = smithers(() => {
    renders += 1;
    if (renders > 1_000) throw new Error("rendered without end");
    return (
      <Workflow name="w">
        <Loop id="empty" until={false}>
          {null}
        </Loop>
      </Workflow>
    );
  });
  const result = await runWorkflow(workflow);
  expect(renders).toBeLessThan(100);
  expect(result.error?.message).toMatch(/empty/);
});

it("an earlier pass can be read by its number", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop until={ctx.outputs.inner.length >= 3}>
        <Task id="t" output={outputs.inner}>
          {{ n: ctx.iteration * 10 }}
        </Task>
      </Loop>
      {ctx.outputs.inner.length < 3 ? null : (
        <Task id="end" output={outputs.outer}>
          {{
            n: ctx.output("inner", { nodeId: "t", iteration: 1 }).n + ctx.output("inner", { nodeId: "t" }).n,
          }}
        </Task>
      )}
    </Workflow>
  ));
  expect((await runWorkflow(workflow)).outputs["outer"]).toEqual([{ n: 30 }]);
});

it("a task that appears in a later pass does not run for the passes before it", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const ran: string[] = [];
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop until={ctx.outputs.inner.length >= 4} maxIterations={10}>
        <Task id="t" output={outputs.inner}>
          {() => ({ n: ran.push(`t ${ctx.iteration}`) })}
        </Task>
        {ctx.outputs.inner.length < 3 ? null : (
          <Task id="late" output={outputs.outer}>
            {() => ({ n: ran.push(`late ${ctx.iteration}`) })}
          </Task>
        )}
      </Loop>
    </Workflow>
  ));
  expect((await runWorkflow(workflow)).status).toBe("finished");
  expect(ran).toEqual(["t 0", "t 1", "t 2", "late 2", "t 3", "late 3"]);
});

it("three thousand passes need no deep stack", { timeout: 60_000 }, async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const workflow = smithers(() => (
    <Workflow name="w">
      <Loop until={false} maxIterations={3_000}>
        <Task id="t" output={outputs.inner}>
          {{ n: 1 }}
        </Task>
      </Loop>
    </Workflow>
  ));
  const result = await runWorkflow(workflow);
  expect(result.error?.message).toBeUndefined();
  expect(result.outputs["inner"]).toHaveLength(3_000);
});

it("a loop that is interrupted resumes with the number of its pass", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const stop = new AbortController();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop until={ctx.outputs.inner.length >= 4}>
        <Task id="t" output={outputs.inner}>
          {() => {
            if (ctx.iteration === 2 && !stop.signal.aborted) {
              stop.abort();
              throw new Error("stopped");
            }
            return { n: ctx.iteration };
          }}
        </Task>
      </Loop>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { runId: "r", signal: stop.signal })).status).toBe("cancelled");
  const result = await runWorkflow(workflow, { runId: "r", resume: true });
  expect(result.outputs["inner"]).toEqual([0, 1, 2, 3].map((n) => ({ n })));
});

it("a pass that is interrupted after its first task resumes with its number", async () => {
  const { Workflow, Task, Loop, smithers, outputs } = create();
  const stop = new AbortController();
  const workflow = smithers((ctx) => (
    <Workflow name="w">
      <Loop until={ctx.outputs.other.length >= 3}>
        <Task id="first" output={outputs.inner}>
          {{ n: ctx.iteration }}
        </Task>
        <Task id="second" output={outputs.other}>
          {() => {
            if (ctx.iteration === 2 && !stop.signal.aborted) {
              stop.abort();
              throw new Error("stopped");
            }
            return { n: ctx.iteration };
          }}
        </Task>
      </Loop>
    </Workflow>
  ));
  expect((await runWorkflow(workflow, { runId: "r", signal: stop.signal })).status).toBe("cancelled");
  const result = await runWorkflow(workflow, { runId: "r", resume: true });
  expect(result.outputs).toMatchObject({
    inner: [0, 1, 2].map((n) => ({ n })),
    other: [0, 1, 2].map((n) => ({ n })),
  });
});

it("in nested loops an iteration belongs to the current outer pass, and paths distinguish the passes", async () => {
  const dbPath = createStorePath();
  const { Workflow, Task, Loop, smithers, outputs } = create(dbPath);
  const note = defineTool({
    name: "note",
    schema: z.object({ n: z.number() }),
    sideEffect: true,
    execute: async ({ n }, ctx) => ({ n, key: ctx.idempotencyKey }),
  });
  let made = 0;
  const seen: string[] = [];
  const workflow = smithers((ctx) => {
    const first = ctx.outputMaybe(outputs.inner, { nodeId: "inner", iteration: 0 })?.n;
    return (
      <Workflow name="w">
        <Loop until={false} maxIterations={3}>
          <Task id="before" output={outputs.other}>
            {() => {
              seen.push(`before ${first}`);
              return { n: first ?? -1 };
            }}
          </Task>
          <Loop until={false} maxIterations={2}>
            <Task id="inner" output={outputs.inner}>
              {async () => {
                seen.push(`inner ${first}`);
                await note.invoke({ n: 1 });
                return { n: (made += 1) };
              }}
            </Task>
          </Loop>
          <Task id="after" output={outputs.outer}>
            {() => {
              seen.push(`after ${first}`);
              return { n: first ?? -1 };
            }}
          </Task>
        </Loop>
        <Task id="last" output={outputs.outer}>
          {() => {
            seen.push(`last ${first}`);
            return { n: 0 };
          }}
        </Task>
      </Workflow>
    );
  });
  expect((await runWorkflow(workflow, { runId: "r" })).status).toBe("finished");
  expect(seen).toEqual([
    "before undefined",
    "inner undefined",
    "inner 1",
    "after 1",
    "before undefined",
    "inner undefined",
    "inner 3",
    "after 3",
    "before undefined",
    "inner undefined",
    "inner 5",
    "after 5",
    // Outside the loops the latest pass counts.
    "last 5",
  ]);
  const paths = ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"];
  const views = await rowsOf(dbPath, 'SELECT path FROM "inner" ORDER BY path');
  expect(views.map(({ path }) => path)).toEqual(paths);
  await using runtime = createRuntime({ store: dbPath });
  expect((await runtime.calls()).map(({ path }) => path)).toEqual(paths);
  const log = await rowsOf(dbPath, "SELECT path FROM _smithers_tool_calls ORDER BY path");
  expect(log.map(({ path }) => path)).toEqual(paths);
});

/** The order of tasks: groups, concurrency limits, dependencies, failures, retries and timeouts. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { bash, createRuntime, createSmithers, defineTool, runWorkflow, type WorkflowEvent } from "toolwright";
import { createFakeClock, type FakeClock } from "toolwright/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createFolder, createStorePath, until } from "./harness.ts";

function create() {
  const smithers = createSmithers(
    {
      step: z.object({ at: z.string() }),
      flag: z.object({ on: z.boolean() }),
      output: z.object({ text: z.string() }),
    },
    { dbPath: createStorePath() },
  );
  const events: string[] = [];
  let running = 0;
  const seen = { most: 0 };
  /** A task function that records when it started and ended: after a delay, or after a promise. */
  const work =
    (id: string, during: number | Promise<unknown> = 10) =>
    async () => {
      events.push(`${id} begins`);
      running += 1;
      seen.most = Math.max(seen.most, running);
      await (typeof during === "number" ? pause(during) : during);
      running -= 1;
      events.push(`${id} ends`);
      return { at: id };
    };
  return { ...smithers, events, work, seen };
}

/** Resolves when a task has failed and its failure is stored. */
function watchFailure(id: string) {
  const failed = Promise.withResolvers<void>();
  const onProgress = (event: WorkflowEvent): void => {
    if (event.type === "task-changed" && event.nodeId === id && event.status === "failed") failed.resolve();
  };
  return { failed: failed.promise, onProgress };
}

describe("groups", () => {
  it("a sequence runs one after the other, in order", async () => {
    const { Workflow, Task, Sequence, smithers, outputs, events, work } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Sequence>
          <Task id="a" output={outputs.step}>
            {work("a")}
          </Task>
          <Task id="b" output={outputs.step}>
            {work("b", 0)}
          </Task>
        </Sequence>
        <Task id="c" output={outputs.step}>
          {work("c")}
        </Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).status).toBe("finished");
    expect(events).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  it("a parallel group runs at once, and what follows waits for all of it", async () => {
    const { Workflow, Task, Parallel, smithers, outputs, events, work, seen } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          {["a", "b", "c"].map((id) => (
            <Task key={id} id={id} output={outputs.step}>
              {work(id, 20)}
            </Task>
          ))}
        </Parallel>
        <Task id="after" output={outputs.step}>
          {work("after")}
        </Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).status).toBe("finished");
    expect(seen.most).toBe(3);
    expect(events.slice(-2)).toEqual(["after begins", "after ends"]);
  });

  it("a parallel group keeps its own limit, even when the tree is rendered again", async () => {
    const { Workflow, Task, Parallel, smithers, outputs, work, seen } = create();
    const workflow = smithers((ctx) => (
      <Workflow name={`after ${ctx.outputs.step.length}`}>
        <Parallel maxConcurrency={2}>
          {Array.from({ length: 8 }, (_, index) => (
            <Task id={`t${index}`} output={outputs.step}>
              {work(`t${index}`, 5 + (index % 3) * 7)}
            </Task>
          ))}
        </Parallel>
      </Workflow>
    ));
    const result = await runWorkflow(workflow, { maxConcurrency: 8 });
    expect(result.outputs["step"]).toHaveLength(8);
    expect(seen.most).toBe(2);
  });

  it("the limit of the run applies to all groups together", async () => {
    const { Workflow, Task, Parallel, Sequence, smithers, outputs, work, seen } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          {["a", "b", "c", "d"].map((id) => (
            <Sequence>
              <Task id={`${id}1`} output={outputs.step}>
                {work(`${id}1`)}
              </Task>
              <Parallel>
                <Task id={`${id}2`} output={outputs.step}>
                  {work(`${id}2`)}
                </Task>
                <Task id={`${id}3`} output={outputs.step}>
                  {work(`${id}3`)}
                </Task>
              </Parallel>
            </Sequence>
          ))}
        </Parallel>
      </Workflow>
    ));
    const result = await runWorkflow(workflow, { maxConcurrency: 3 });
    expect(result.outputs["step"]).toHaveLength(12);
    expect(seen.most).toBe(3);
  });

  it.each([0, -1, Number.NaN, 1.5])("a limit of %s is refused", async (maxConcurrency) => {
    const { Workflow, Task, smithers } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="a">{1}</Task>
      </Workflow>
    ));
    await expect(runWorkflow(workflow, { maxConcurrency })).rejects.toThrow(/maxConcurrency/);
  });

  it("sequences in a parallel group proceed independently", async () => {
    const { Workflow, Task, Parallel, Sequence, smithers, outputs, events, work } = create();
    const othersEnded = Promise.withResolvers<void>();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Sequence>
            <Task id="slow" output={outputs.step}>
              {work("slow", othersEnded.promise)}
            </Task>
          </Sequence>
          <Sequence>
            <Task id="quick1" output={outputs.step}>
              {work("quick1", 1)}
            </Task>
            <Task id="quick2" output={outputs.step}>
              {() => work("quick2", 1)().finally(othersEnded.resolve)}
            </Task>
          </Sequence>
        </Parallel>
      </Workflow>
    ));
    await runWorkflow(workflow);
    expect(events.at(-1)).toBe("slow ends");
    expect(events).toContain("quick2 ends");
  });

  it("a workflow without tasks is finished immediately", async () => {
    const { Workflow, Parallel, Sequence, smithers } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Sequence />
        </Parallel>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ status: "finished", output: undefined });
  });
});

describe("branches and conditions", () => {
  it.each([true, false])("a branch runs one side only (%s)", async (on) => {
    const { Workflow, Task, Branch, smithers, outputs } = create();
    const workflow = smithers((ctx) => (
      <Workflow name="w">
        <Task id="flag" output={outputs.flag}>
          {{ on }}
        </Task>
        <Branch
          if={ctx.outputMaybe(outputs.flag, { nodeId: "flag" })?.on === true}
          then={
            <Task id="yes" output={outputs.step}>
              {{ at: "yes" }}
            </Task>
          }
          else={
            <Task id="no" dependsOn={["flag"]} output={outputs.step}>
              {{ at: "no" }}
            </Task>
          }
        />
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.outputs["step"]).toEqual([{ at: on ? "yes" : "no" }]);
  });

  it("tasks that depend on an output appear when the output exists", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const workflow = smithers((ctx) => {
      const first = ctx.outputMaybe("step", { nodeId: "first" });
      return (
        <Workflow name="w">
          <Task id="first" output={outputs.step}>
            {{ at: "first" }}
          </Task>
          {first === undefined ? null : (
            <Task id="second" output={outputs.output}>
              {{ text: `after ${first.at}` }}
            </Task>
          )}
        </Workflow>
      );
    });
    expect(await runWorkflow(workflow)).toMatchObject({
      status: "finished",
      output: { text: "after first" },
    });
  });

  it("a skipped task counts as done, has no output, and never starts", async () => {
    const { Workflow, Task, smithers, outputs, work, events } = create();
    const seen: WorkflowEvent[] = [];
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="a" skipIf output={outputs.step}>
          {work("a")}
        </Task>
        <Task id="b" dependsOn={["a"]} output={outputs.step}>
          {work("b")}
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow, { onProgress: (event) => seen.push(event) });
    expect(result.outputs["step"]).toEqual([{ at: "b" }]);
    expect(events).toEqual(["b begins", "b ends"]);
    expect(seen).toContainEqual(expect.objectContaining({ nodeId: "a", status: "skipped" }));
  });
});

describe("dependencies", () => {
  it("apply across groups, in any order in the tree", async () => {
    const { Workflow, Task, Parallel, smithers, outputs, work, events } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Task id="b" dependsOn={["a"]} output={outputs.step}>
            {work("b")}
          </Task>
          <Task id="c" dependsOn={["b"]} output={outputs.step}>
            {work("c")}
          </Task>
          <Task id="a" output={outputs.step}>
            {work("a")}
          </Task>
        </Parallel>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).status).toBe("finished");
    expect(events.filter((event) => event.endsWith("begins"))).toEqual(["a begins", "b begins", "c begins"]);
  });

  it("pass their outputs to the function, by id", async () => {
    const { Workflow, Task, Parallel, smithers, outputs } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Task id="join" deps={{ one: outputs.step, two: outputs.step }} output={outputs.output}>
            {(deps: { one: { at: string }; two: { at: string } }) => ({
              text: `${deps.one.at}${deps.two.at}`,
            })}
          </Task>
          <Task id="one" output={outputs.step}>
            {{ at: "1" }}
          </Task>
          <Task id="two" output={outputs.step}>
            {{ at: "2" }}
          </Task>
        </Parallel>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ output: { text: "12" } });
  });

  it("on a task of a loop, from outside of it, give its last pass", async () => {
    const { Workflow, Task, Loop, smithers, outputs } = create();
    const workflow = smithers((ctx) => (
      <Workflow name="w">
        <Loop until={ctx.outputs.step.length >= 3}>
          <Task id="pass" output={outputs.step}>
            {{ at: String(ctx.iteration) }}
          </Task>
        </Loop>
        <Task id="end" deps={{ pass: outputs.step }} output={outputs.output}>
          {(deps: { pass: { at: string } }) => ({ text: deps.pass.at })}
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ status: "finished", output: { text: "2" } });
  });

  it("that wait for each other are an error that names them", async () => {
    const { Workflow, Task, Parallel, smithers } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Task id="egg" dependsOn={["hen"]}>
            {1}
          </Task>
          <Task id="hen" dependsOn={["egg"]}>
            {1}
          </Task>
        </Parallel>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.status).toBe("failed");
    expect(result.error?.message).toMatch(/egg|hen/);
  });

  it("on a later task of the same sequence are an error that names it", async () => {
    const { Workflow, Task, smithers } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="early" dependsOn={["late"]}>
          {1}
        </Task>
        <Task id="late">{1}</Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.status).toBe("failed");
    expect(result.error?.message).toMatch(/early|late/);
  });

  it("on a failed task that the run continues without are met", async () => {
    const { Workflow, Task, Parallel, smithers, outputs } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Task id="broken" retries={0} continueOnFail>
            {() => {
              throw new Error("broken");
            }}
          </Task>
          <Task id="after" dependsOn={["broken"]} output={outputs.step}>
            {{ at: "after" }}
          </Task>
        </Parallel>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.status).toBe("finished");
    expect(result.outputs["step"]).toEqual([{ at: "after" }]);
  });
});

describe("failures", () => {
  it("a task has two further attempts by default, then the run fails", async () => {
    const { Workflow, Task, smithers, outputs, work, events } = create();
    const attempts: number[] = [];
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="broken" output={outputs.step}>
          {() => {
            attempts.push(attempts.length + 1);
            throw new Error("no luck");
          }}
        </Task>
        <Task id="never" output={outputs.step}>
          {work("never")}
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result).toMatchObject({ status: "failed", error: { code: "WORKFLOW_TASK_FAILED" } });
    expect(result.error?.message).toMatch(/broken.*3.*no luck/);
    expect(attempts).toEqual([1, 2, 3]);
    expect(events).toEqual([]);
  });

  it("a failed task lets parallel tasks finish, and no new task starts", async () => {
    const { Workflow, Task, Parallel, Sequence, smithers, outputs, work, events } = create();
    const { failed, onProgress } = watchFailure("broken");
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          <Task id="broken" retries={0} output={outputs.step}>
            {async () => {
              await until(() => events.length > 0);
              throw new Error("no luck");
            }}
          </Task>
          <Sequence>
            <Task id="beside" output={outputs.step}>
              {work("beside", failed)}
            </Task>
            <Task id="next" output={outputs.step}>
              {work("next")}
            </Task>
          </Sequence>
        </Parallel>
      </Workflow>
    ));
    const result = await runWorkflow(workflow, { onProgress });
    expect(result.status).toBe("failed");
    expect(events).toEqual(["beside begins", "beside ends"]);
    expect(result.outputs["step"]).toEqual([{ at: "beside" }]);
  });

  it("a task that may fail lets the run continue, and is not retried when the tree is rendered again", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    let tries = 0;
    const workflow = smithers((ctx) => (
      <Workflow name={`after ${ctx.outputs.step.length}`}>
        <Task id="broken" retries={1} continueOnFail output={outputs.step}>
          {() => {
            tries += 1;
            throw new Error("broken");
          }}
        </Task>
        <Task id="b" output={outputs.step}>
          {{ at: "b" }}
        </Task>
        <Task id="c" output={outputs.step}>
          {{ at: "c" }}
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.status).toBe("finished");
    expect(result.outputs["step"]).toEqual([{ at: "b" }, { at: "c" }]);
    expect(tries).toBe(2);
  });

  it("a task that may fail is not retried by a resume for another reason", async () => {
    const dbPath = createStorePath();
    let tries = 0;
    const stop = new AbortController();
    const { Workflow, Task, smithers, outputs } = createSmithers({ step: z.object({}) }, { dbPath });
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="broken" retries={0} continueOnFail output={outputs.step}>
          {() => {
            tries += 1;
            throw new Error("broken");
          }}
        </Task>
        <Task id="next" output={outputs.step}>
          {() => {
            if (!stop.signal.aborted) {
              stop.abort();
              throw new Error("stopped");
            }
            return {};
          }}
        </Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow, { runId: "r", signal: stop.signal })).status).toBe("cancelled");
    expect((await runWorkflow(workflow, { runId: "r", resume: true })).status).toBe("finished");
    expect(tries).toBe(1);
  });

  it("a render that throws while a task runs is reported when that task has ended", async () => {
    const { Workflow, Task, Parallel, smithers, outputs, work, events } = create();
    const thrown = Promise.withResolvers<void>();
    const workflow = smithers((ctx) => {
      if (ctx.outputs.flag.length > 0) {
        thrown.resolve();
        throw new Error("cannot draw this");
      }
      return (
        <Workflow name="w">
          <Parallel>
            <Task id="quick" output={outputs.flag}>
              {{ on: true }}
            </Task>
            <Task id="slow" output={outputs.step}>
              {work("slow", thrown.promise)}
            </Task>
          </Parallel>
        </Workflow>
      );
    });
    await using runtime = createRuntime({ store: createStorePath() });
    const result = await runWorkflow(workflow, { runtime });
    expect(result.status).toBe("failed");
    expect(result.error?.message).toContain("cannot draw this");
    expect(events).toEqual(["slow begins", "slow ends"]);
  });

  it("the failure of a task is reported, even when the tree cannot be rendered after it", async () => {
    const { Workflow, Task, Parallel, smithers, outputs } = create();
    const { failed, onProgress } = watchFailure("broken");
    const workflow = smithers((ctx) => {
      if (ctx.outputs.flag.length > 0) throw new Error("cannot draw this");
      return (
        <Workflow name="w">
          <Parallel>
            <Task id="broken" retries={0} output={outputs.step}>
              {() => {
                throw new Error("no luck");
              }}
            </Task>
            <Task id="slow" output={outputs.flag}>
              {async () => {
                await failed;
                return { on: true };
              }}
            </Task>
          </Parallel>
        </Workflow>
      );
    });
    expect((await runWorkflow(workflow, { onProgress })).error?.message).toContain("no luck");
  });
});

/** Waits as long as it takes to store the failure, since the delay before the next attempt starts after that. */
async function timeOut(clock: FakeClock, ms: number, isNext: () => boolean): Promise<void> {
  await clock.advance(ms);
  await until(async () => {
    await clock.advance(0);
    return isNext();
  });
}

describe("retries and time", () => {
  const delays = [
    { backoff: "fixed", expected: [100, 100, 100] },
    { backoff: "linear", expected: [100, 200, 300] },
    { backoff: "exponential", expected: [100, 200, 400] },
  ] as const;

  it.each(delays)("waits between attempts: $backoff", async ({ backoff, expected }) => {
    const { Workflow, Task, smithers } = create();
    const clock = createFakeClock();
    await using runtime = createRuntime({ store: createStorePath(), clock });
    const at: number[] = [];
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" retries={3} retryPolicy={{ backoff, initialDelayMs: 100 }}>
          {() => {
            at.push(clock.now());
            throw new Error("again");
          }}
        </Task>
      </Workflow>
    ));
    const done = runWorkflow(workflow, { runtime });
    const waits: number[] = [];
    for (let retry = 0; retry < 3; retry += 1) {
      await until(() => clock.pendingSleeps.length > 0);
      const ms = clock.pendingSleeps[0]?.ms ?? 0;
      waits.push(ms);
      await clock.advance(ms);
    }
    expect((await done).status).toBe("failed");
    expect(waits).toEqual(expected);
    expect(at.slice(1).map((time, index) => time - (at[index] ?? 0))).toEqual(expected);
  });

  it("an abort ends the wait between attempts, and the run resumes", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const clock = createFakeClock();
    await using runtime = createRuntime({ store: createStorePath(), clock });
    const stop = new AbortController();
    let tries = 0;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" retryPolicy={{ initialDelayMs: 60_000 }} output={outputs.step}>
          {() => {
            tries += 1;
            if (tries > 1) return { at: "second" };
            throw new Error("again");
          }}
        </Task>
      </Workflow>
    ));
    const stopped = runWorkflow(workflow, { runtime, runId: "r", signal: stop.signal });
    await until(() => clock.pendingSleeps.some(({ ms }) => ms === 60_000));
    stop.abort();
    expect(await stopped).toMatchObject({ status: "cancelled" });
    expect(await runWorkflow(workflow, { runtime, runId: "r", resume: true })).toMatchObject({
      status: "finished",
    });
    expect(tries).toBe(2);
  });

  it("a timeout ends the attempt, kills its command, and the next attempt runs", async () => {
    const rootDir = createFolder();
    const { Workflow, Task, smithers, outputs } = create();
    const clock = createFakeClock();
    await using runtime = createRuntime({ store: createStorePath(), clock });
    // The reader of a pipe is notified when something is written, and when the last writer has closed it.
    spawnSync("mkfifo", [join(rootDir, "alive")]);
    const reader = spawn("cat", [join(rootDir, "alive")]);
    onTestFinished(() => void reader.kill("SIGKILL"));
    const [begun, gone] = [once(reader.stdout, "data"), once(reader, "close")];
    let attempts = 0;
    let ended: Promise<unknown> | undefined;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" timeoutMs={700} output={outputs.step}>
          {async () => {
            attempts += 1;
            if (attempts === 1) {
              const args = ["-c", "exec 3> alive; echo begun >&3; sleep 3600"];
              ended = bash.execute({ cmd: "sh", args }).then(
                () => "success",
                (error: unknown) => (error as { code?: string }).code,
              );
              await ended;
            }
            return { at: String(attempts) };
          }}
        </Task>
      </Workflow>
    ));
    const done = runWorkflow(workflow, { runtime, runId: "r", rootDir });
    await begun;
    await timeOut(clock, 700, () => attempts === 2);
    expect(await done).toMatchObject({ status: "finished", output: { at: "2" } });
    expect(await ended).not.toBe("success");
    await gone;
    const [call] = await runtime.calls({ runId: "r" });
    expect(call).toMatchObject({ toolName: "bash", attempt: 1, status: "unknown" });
  });

  it("an attempt that timed out cannot make calls in parallel with its successor", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const clock = createFakeClock();
    await using runtime = createRuntime({ store: createStorePath(), clock });
    const called: number[] = [];
    const note = defineTool({
      name: "note",
      schema: z.object({ attempt: z.number() }),
      sideEffect: true,
      execute: ({ attempt }, ctx) => {
        called.push(attempt);
        return ctx.idempotencyKey;
      },
    });
    let attempts = 0;
    const successorCalled = Promise.withResolvers<void>();
    let late: Promise<string> | undefined;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" timeoutMs={100} output={outputs.step}>
          {async () => {
            attempts += 1;
            const attempt = attempts;
            if (attempt === 1) {
              late = successorCalled.promise.then(() =>
                note.execute({ attempt }).then(
                  () => "success",
                  (error: unknown) => String((error as { code?: string }).code),
                ),
              );
            } else {
              await note.execute({ attempt });
              successorCalled.resolve();
            }
            await late;
            return { at: String(attempt) };
          }}
        </Task>
      </Workflow>
    ));
    const done = runWorkflow(workflow, { runtime });
    await until(() => attempts === 1);
    await timeOut(clock, 100, () => attempts === 2);
    expect(await done).toMatchObject({ status: "finished", output: { at: "2" } });
    expect(called).toEqual([2]);
    expect(await late).not.toBe("success");
  });

  it("a function that never ends blocks neither its task nor its run, and can no longer make calls", async () => {
    const { Workflow, Task, smithers } = create();
    const called: string[] = [];
    const note = defineTool({
      name: "note",
      schema: z.object({}),
      execute: () => called.push("note"),
    });
    const later = Promise.withResolvers<void>();
    let late: Promise<unknown> | undefined;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" timeoutMs={50} retries={0}>
          {() => {
            late = later.promise.then(() => note.execute({})).catch((error: unknown) => error);
            return new Promise<void>(() => undefined);
          }}
        </Task>
      </Workflow>
    ));
    // The runtime is closed when the run returns.
    expect(await runWorkflow(workflow)).toMatchObject({ status: "failed" });
    later.resolve();
    expect(await late).toMatchObject({ code: "TOOL_ATTEMPT_STALE" });
    expect(called).toEqual([]);
  });

  it("a timeout follows the runtime's clock", async () => {
    const { Workflow, Task, smithers } = create();
    const clock = createFakeClock();
    await using runtime = createRuntime({ store: createStorePath(), clock });
    let begun = false;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" timeoutMs={3_600_000} retries={0}>
          {() => {
            begun = true;
            return new Promise<void>(() => undefined);
          }}
        </Task>
      </Workflow>
    ));
    const done = runWorkflow(workflow, { runtime });
    await until(() => begun);
    await clock.advance(3_600_000);
    expect(await done).toMatchObject({ status: "failed" });
  });
});

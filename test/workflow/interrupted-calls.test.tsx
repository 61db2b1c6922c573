/** What the function or the model of a task receives after a call with an unknown outcome. */
import { createRuntime, createSmithers, defineTool, runWorkflow, type ToolPolicies } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createStorePath, scriptedAgent } from "./harness.ts";

const schemas = { result: z.object({ done: z.boolean() }) };

/** Fails or stops as `behave` does. No idempotency key detects a repetition. */
function createCharge(
  behave: (count: number, signal: AbortSignal) => unknown,
  policies: ToolPolicies<{ amount: number }, unknown, object> = {},
) {
  let effects = 0;
  const charge = defineTool({
    name: "pay.charge",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    ...policies,
    execute: async (_args, ctx): Promise<unknown> => {
      effects += 1;
      return (await behave(effects, ctx.signal)) ?? { id: `ch_${effects}` };
    },
  });
  return { charge, effects: () => effects };
}

const untilStopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")));
  });

describe("a task that is a function", () => {
  const functionTask = (
    dbPath: string,
    charge: ReturnType<typeof createCharge>["charge"],
    timeoutMs?: number,
  ) => {
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    return smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.result} retries={2} {...(timeoutMs === undefined ? {} : { timeoutMs })}>
          {async () => {
            await charge.execute({ amount: 7 });
            return { done: true };
          }}
        </Task>
      </Workflow>
    ));
  };

  it("rule 13: a tool that runs in each attempt runs again after an error, and the original error is reported", async () => {
    const dbPath = createStorePath();
    const { charge, effects } = createCharge(
      (count) => {
        throw new Error(`exit ${count}`);
      },
      { replay: "run", onUnknown: "tell" },
    );
    const result = await runWorkflow(functionTask(dbPath, charge), { runId: "r" });
    expect(result).toMatchObject({ status: "failed", error: { message: expect.stringContaining("exit 3") } });
    expect(effects()).toBe(3);
  });

  it("rule 13: and after the timeout of the task", async () => {
    const dbPath = createStorePath();
    const { charge, effects } = createCharge(
      (count, signal) => (count === 1 ? untilStopped(signal) : undefined),
      { replay: "run", onUnknown: "tell" },
    );
    const result = await runWorkflow(functionTask(dbPath, charge, 300), { runId: "r" });
    expect(result.status).toBe("finished");
    expect(effects()).toBe(2);
  });

  it.each([
    [{ resolution: "run-again" }, "finished", 2],
    [{ resolution: "happened", output: { id: "seen" } }, "finished", 1],
    [{ resolution: "give-up" }, "failed", 1],
  ] as const)(
    "rule 16: a run that was stopped in a call waits for a decision, and continues after %j",
    async (decision, status, runs) => {
      const dbPath = createStorePath();
      const stop = new AbortController();
      const { charge, effects } = createCharge(
        (count, signal) => {
          if (count > 1) return undefined;
          stop.abort(new Error("Ctrl-C"));
          return untilStopped(signal);
        },
        { replay: "run", onUnknown: "tell" },
      );
      const make = () => functionTask(dbPath, charge);
      expect((await runWorkflow(make(), { runId: "r", signal: stop.signal })).status).toBe("cancelled");
      expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("waiting-approval");
      await using runtime = createRuntime({ store: dbPath });
      const [request] = await runtime.approvals({ status: "pending" });
      expect(request).toMatchObject({ kind: "replay", toolName: "pay.charge" });
      await runtime.resolveToolApproval(request?.id ?? "", decision);
      expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe(status);
      expect(effects()).toBe(runs);
    },
  );
});

describe("an agent task", () => {
  it("rule 18: the warning uses the model's name of the tool, and describes the effect of a repetition", async () => {
    const dbPath = createStorePath();
    const { charge } = createCharge(() => undefined);
    const note = defineTool({
      name: "pay.note",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      replay: "run",
      acceptsIdempotencyKey: false,
      execute: () => "noted",
    });
    const prompts: string[] = [];
    const { agent } = scriptedAgent(
      [
        ({ prompt }) => {
          const asked = JSON.stringify(prompt[0]);
          prompts.push(asked);
          // The first attempt never gives a valid answer; the second one does immediately.
          if (asked.includes("Earlier attempts")) return '{"done":true}';
          if (prompt.length > 1) return "not what was asked for";
          return [
            { toolName: "charge", input: { amount: 7 } },
            { toolName: "write_note", input: { amount: 1 } },
          ];
        },
      ],
      { tools: { charge, write_note: note } },
    );
    const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result} retries={3}>
          Charge.
        </Task>
      </Workflow>
    ));
    await runWorkflow(workflow, { runId: "r" });
    const warning = prompts.find((text) => text.includes("Earlier attempts")) ?? "";
    expect(warning).toMatch(
      /attempt 1: charge\(.*returns this recorded result\].*write_note\(.*a repeat runs again\]/,
    );
    expect(warning).not.toContain("pay.");
  });

  it("rule 19: the model reads that its arguments were edited", async () => {
    const dbPath = createStorePath();
    const { charge } = createCharge(() => undefined, { needsApproval: true });
    const told: string[] = [];
    const make = () => {
      const { agent } = scriptedAgent(
        [
          ({ prompt }) => {
            if (prompt.length === 1) return [{ toolName: "charge", input: { amount: 7 } }];
            told.push(JSON.stringify(prompt.at(-1)));
            return '{"done":true}';
          },
        ],
        { tools: { charge } },
      );
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      return smithers(() => (
        <Workflow name="w">
          <Task id="t" agent={agent} output={outputs.result}>
            Charge.
          </Task>
        </Workflow>
      ));
    };
    expect((await runWorkflow(make(), { runId: "r" })).status).toBe("waiting-approval");
    await using runtime = createRuntime({ store: dbPath });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true, approvedArgs: { amount: 5 } });
    expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("finished");
    expect(told[0]).toMatch(/edited the arguments.*amount.*5/);
  });

  it("rule 16: onUnknown tell: the model reads outcome_unknown with the error, and no approval is requested", async () => {
    const dbPath = createStorePath();
    const stop = new AbortController();
    const { charge, effects } = createCharge(
      (_count, signal) => {
        stop.abort(new Error("Ctrl-C"));
        return untilStopped(signal);
      },
      { onUnknown: "tell" },
    );
    const told: string[] = [];
    const make = () => {
      const { agent } = scriptedAgent(
        [
          ({ prompt }) => {
            if (prompt.length === 1) return [{ toolName: "charge", input: { amount: 7 } }];
            told.push(JSON.stringify(prompt.at(-1)));
            return '{"done":true}';
          },
        ],
        { tools: { charge } },
      );
      const { Workflow, Task, smithers, outputs } = createSmithers(schemas, { dbPath });
      return smithers(() => (
        <Workflow name="w">
          <Task id="t" agent={agent} output={outputs.result}>
            Charge.
          </Task>
        </Workflow>
      ));
    };
    expect((await runWorkflow(make(), { runId: "r", signal: stop.signal })).status).toBe("cancelled");
    expect((await runWorkflow(make(), { runId: "r", resume: true })).status).toBe("finished");
    expect(told[0]).toMatch(/outcome_unknown.*Ctrl-C/);
    await using runtime = createRuntime({ store: dbPath });
    expect(await runtime.approvals()).toEqual([]);
    expect(effects()).toBe(1);
  });
});

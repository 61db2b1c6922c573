/** Stores that version 0.1 left: this version opens them, resumes what was interrupted and repeats no effect. */
import { createRuntime, type Outcome } from "toolwright";
import { describe, expect, test } from "vitest";
import { FIXTURES, openFixture } from "./open-fixture.ts";
import {
  argumentValues,
  bareCalls,
  businessKeys,
  cachedCalls,
  errorArguments,
  outputValues,
  redactedCalls,
} from "./programs/calls.ts";
import {
  aiSdkRecorded,
  aiSdkRun,
  anthropicChat,
  anthropicLoop,
  smartAgentFinished,
  smartAgentInterrupted,
} from "./programs/loops.ts";
import { createTools } from "./programs/tools.ts";
import { ARGUMENTS, OUTPUT_VALUES } from "./programs/values.ts";
import { notifyOnce, refund } from "./programs/waiting.ts";
import {
  finishedLoops,
  finishedWorkflow,
  interruptedAgent,
  interruptedLoops,
  waitingWorkflow,
} from "./programs/workflows.ts";

/** What the programs reported passed through JSON. */
const asJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? `${item}n` : item)));

const added = (earlier: readonly string[], effects: readonly string[]): string[] => {
  const left = [...earlier];
  return effects.filter((effect) => {
    const index = left.indexOf(effect);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
};

describe.each(FIXTURES)("a store of version 0.1 on $name", (kind) => {
  test("finished workflows answer with their recorded outputs", async () => {
    const { input, world, earlier, reports } = await openFixture(kind);
    expect(asJson(await finishedWorkflow(input))).toEqual(reports["finishedWorkflow"]);
    expect(asJson(await finishedLoops(input))).toEqual(reports["finishedLoops"]);
    const { outputs } = await finishedWorkflow(input);
    expect(outputs["values"]).toEqual([{ at: new Date(86_400_000), amounts: new Map([["a", 1n]]) }]);
    expect(world.effects()).toEqual(earlier);
  });

  test("an interrupted agent task resumes with its recorded responses and calls", async () => {
    const { input, world, earlier } = await openFixture(kind);
    const report = await interruptedAgent(input);
    expect(report).toMatchObject({ status: "finished", asked: 1, diverged: 0, error: undefined });
    expect(report.outputs).toMatchObject({ output: [{ orders: 5 }] });
    expect(report.outputs["paid"]).toHaveLength(2);
    expect(added(earlier, world.effects())).toEqual(["pay interrupted last"]);
    expect(await interruptedAgent(input)).toEqual({ ...report, asked: 0 });
  });

  test("interrupted nested loops resume in the pass that they had reached", async () => {
    const { input, world, earlier } = await openFixture(kind);
    const report = await interruptedLoops(input);
    expect(report).toMatchObject({ status: "finished", error: undefined });
    expect(report.outputs["paid"]?.map((row) => (row as { id: string }).id)).toEqual([
      "loops 0",
      "loops 1",
      "loops held",
      "loops 3",
    ]);
    expect(added(earlier, world.effects())).toEqual(["pay loops 3"]);
  });

  test("a workflow that waits for approval resumes after the decision", async () => {
    const { input, world, earlier } = await openFixture(kind);
    expect(await waitingWorkflow(input)).toMatchObject({ status: "waiting-approval" });
    await using runtime = createRuntime({ store: input.store });
    const [request, ...others] = await runtime.approvals({ runId: "workflow waiting", status: "pending" });
    expect(others).toEqual([]);
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    expect(await waitingWorkflow(input)).toMatchObject({ status: "finished" });
    expect(await waitingWorkflow(input)).toMatchObject({ status: "finished" });
    expect(added(earlier, world.effects())).toEqual(["refund workflow"]);
  });

  test("rule 35: bare calls are found under their keys", async () => {
    const { input, world, earlier } = await openFixture(kind);
    const outcomes = (await bareCalls(input)) as Outcome[];
    expect(outcomes).toMatchObject(outcomes.map(() => ({ status: "success" })));
    expect(outcomes.slice(0, 6)).toMatchObject(Array.from({ length: 6 }, () => ({ replayed: true })));
    const receipts = outcomes.map((outcome) => outcome.status === "success" && outcome.output);
    const paid = ["bare", "bare", "hook", "node", "iteration", "path", "held"].map((id) => `pay ${id}`);
    expect(
      receipts.map((output) => world.ledger[(output as { receipt: number }).receipt - 1]?.effect),
    ).toEqual(paid);
    // A webhook that is delivered once more.
    await using runtime = createRuntime({ store: input.store });
    const { pay } = createTools(input.worldUrl);
    const options = { runId: "bare", callKey: "delivery 1" };
    expect(await runtime.call(pay, { id: "hook" }, options)).toMatchObject({ replayed: true });
    expect(world.effects()).toEqual(earlier);
    // The next equal call is a further one.
    expect(await runtime.call(pay, { id: "hook" }, { ...options, callKey: "delivery 2" })).toMatchObject({
      status: "success",
      replayed: false,
    });
    expect(added(earlier, world.effects())).toEqual(["pay hook"]);
  });

  test("rule 35: a business key that was used is used, whatever the run", async () => {
    const { input, world, earlier } = await openFixture(kind);
    const { ship } = createTools(input.worldUrl);
    await using runtime = createRuntime({ store: input.store });
    const again = await runtime.call(ship, { order: "one" }, { runId: "another run" });
    expect(again).toMatchObject({
      status: "success",
      replayed: true,
      output: { receipt: expect.any(Number) },
    });
    expect(await runtime.call(ship, { order: "two", speed: "fast" }, { runId: "another run" })).toMatchObject(
      {
        status: "error",
        error: { code: "TOOL_IDEMPOTENCY_CONFLICT" },
      },
    );
    expect(await businessKeys(input)).toMatchObject(
      ["one", "two", "held"].map(() => ({ status: "success" })),
    );
    expect(world.effects()).toEqual(earlier);
  });

  test("a cached output answers equal calls", async () => {
    const { input, world, earlier } = await openFixture(kind);
    expect(await cachedCalls(input)).toMatchObject([{ status: "success" }, { status: "success" }]);
    const { lookUp, lookUpInRun } = createTools(input.worldUrl);
    await using runtime = createRuntime({ store: input.store });
    expect(await runtime.call(lookUp, { id: "one" }, { runId: "another run" })).toMatchObject({
      fromCache: true,
    });
    expect(
      await runtime.call(lookUpInRun, { id: "one" }, { runId: "cached", nodeId: "other" }),
    ).toMatchObject({
      fromCache: true,
    });
    expect(world.effects()).toEqual(earlier);
  });

  test("calls with redacted arguments are told apart by what was redacted", async () => {
    const { input, world, earlier } = await openFixture(kind);
    const replayed = { status: "success", replayed: true };
    const mark = expect.stringMatching(/^\[redacted sha256:[\w-]{43}\]$/) as unknown;
    const token = { ...replayed, output: { user: "ada", token: mark } };
    expect(await redactedCalls(input)).toMatchObject([replayed, replayed, token]);
    const { logIn } = createTools(input.worldUrl);
    await using runtime = createRuntime({ store: input.store });
    const another = { user: "ada", password: "a third secret" };
    expect(await runtime.call(logIn, another, { runId: "redacted" })).toMatchObject({ replayed: false });
    expect(added(earlier, world.effects())).toEqual(["log_in ada 14"]);
  });

  test("recorded outputs are returned with the values that were stored", async () => {
    const { input, world, earlier } = await openFixture(kind);
    const expected = Object.entries(OUTPUT_VALUES).map(([name, value]) => [
      name,
      "stored" in value ? value.stored : value.returned,
    ]);
    expect(await outputValues(input)).toStrictEqual(Object.fromEntries(expected));
    expect(world.effects()).toEqual(earlier);
  });

  test("calls are found whatever values their arguments hold", async () => {
    const { input, world, earlier } = await openFixture(kind);
    const receipts = (await argumentValues(input)) as { receipt: number }[];
    expect(new Set(receipts.map(({ receipt }) => receipt)).size).toBe(ARGUMENTS.length + 1);
    expect(world.effects()).toEqual(earlier);
    expect(await argumentValues(input)).toEqual(receipts);
    expect(world.effects()).toEqual(earlier);
  });

  test("calls with an error as an argument are found by what was hidden, claimed and approved", async () => {
    const { input, world, earlier } = await openFixture(kind);
    const [approved, hidden, claimed] = await errorArguments(input);
    expect(approved).toMatchObject({ status: "success", replayed: false });
    expect([hidden, claimed]).toMatchObject([{ replayed: true }, { replayed: true }]);
    expect(added(earlier, world.effects())).toEqual(["keep_approved"]);
    expect(await errorArguments(input)).toMatchObject([
      { status: "success", replayed: true },
      { replayed: true },
      { replayed: true },
    ]);
    // In a run of this version too: the arguments come from the claim.
    const { keepOnce } = createTools(input.worldUrl);
    await using runtime = createRuntime({ store: input.store });
    const args = { order: "one", value: new Error("a") };
    expect(await runtime.call(keepOnce, args, { runId: "another run" })).toMatchObject({
      status: "success",
      replayed: true,
    });
    expect(added(earlier, world.effects())).toEqual(["keep_approved"]);
  });

  test("approvals are redeemed once", async () => {
    const { input, world, earlier } = await openFixture(kind);
    expect(await refund(input, "pending")).toMatchObject({ status: "pending" });
    expect(await refund(input, "denied")).toMatchObject({ status: "denied" });
    for (const id of ["approved", "edited"]) {
      expect(await refund(input, id)).toMatchObject({ status: "success", replayed: false });
      expect(await refund(input, id)).toMatchObject({ status: "success", replayed: true });
    }
    expect(added(earlier, world.effects())).toEqual(["refund approved", "refund edited by a person"]);
    await using runtime = createRuntime({ store: input.store });
    const [request] = await runtime.approvals({ runId: "refund pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    expect(await refund(input, "pending")).toMatchObject({ status: "success", replayed: false });
    expect(await refund(input, "pending")).toMatchObject({ status: "success", replayed: true });
    expect(added(earlier, world.effects())).toHaveLength(3);
  });

  test.each(["held", "asked"])(
    "an interrupted call that nobody can look up is not repeated, and its outcome is asked for (%s)",
    async (id) => {
      const { input, world, earlier } = await openFixture(kind);
      const outcome = await notifyOnce(input, id);
      expect(outcome).toMatchObject({ status: "pending", approval: { kind: "replay", toolName: "notify" } });
      expect(await notifyOnce(input, id)).toMatchObject({ status: "pending" });
      await using runtime = createRuntime({ store: input.store });
      const requests = await runtime.approvals({ runId: `notify ${id}`, status: "pending" });
      expect(requests).toHaveLength(1);
      await runtime.resolveToolApproval(requests[0]?.id ?? "", {
        approved: true,
        happened: { output: { receipt: 0 } },
      });
      expect(await notifyOnce(input, id)).toMatchObject({ status: "success", output: { receipt: 0 } });
      expect(world.effects()).toEqual(earlier);
    },
  );

  test("an AI SDK loop in runtime.run repeats no effect", async () => {
    const { input, world, earlier } = await openFixture(kind);
    expect(await aiSdkRun(input)).toEqual({ text: "All is paid.", asked: 3 });
    expect(world.effects()).toEqual(earlier);
  });

  test("a recorded model is asked only for what was not recorded", async () => {
    const { input, world, earlier } = await openFixture(kind);
    expect(await aiSdkRecorded(input)).toEqual({ text: "All is paid.", asked: 1 });
    expect(world.effects()).toEqual(earlier);
  });

  test("an Anthropic loop resumes with its recorded responses", async () => {
    const { input, world, earlier } = await openFixture(kind);
    expect(await anthropicLoop(input)).toEqual({ text: "complete", asked: 1 });
    expect(await anthropicLoop(input)).toEqual({ text: "complete", asked: 0 });
    expect(world.effects()).toEqual(earlier);
  });

  test("a chat returns the stored answer of a turn that has ended, and takes the next one", async () => {
    const { input, world, earlier, reports } = await openFixture(kind);
    const first = await anthropicChat(input);
    expect(first).toEqual({ ...(reports["anthropicChat"] as object), asked: 0 });
    expect(await anthropicChat(input, ["Pay.", "Once more."])).toMatchObject({ text: "complete", asked: 2 });
    expect(added(earlier, world.effects())).toEqual(["pay chat"]);
  });

  test("a smart agent resumes with its recorded responses", async () => {
    const { input, world, earlier } = await openFixture(kind);
    expect(await smartAgentInterrupted(input)).toEqual({ text: "All is paid.", asked: 1 });
    expect(await smartAgentInterrupted(input)).toEqual({ text: "All is paid.", asked: 0 });
    expect(world.effects()).toEqual(earlier);
  });

  test("a finished smart agent returns its stored result, and continues from its snapshot", async () => {
    const { input, world, earlier, reports } = await openFixture(kind);
    const report = reports["smartAgentFinished"] as Awaited<ReturnType<typeof smartAgentFinished>>;
    expect(await smartAgentFinished(input)).toMatchObject({ text: report.text, asked: 0 });
    expect(world.effects()).toEqual(earlier);
    expect(await smartAgentFinished(input, report.snapshot)).toMatchObject({ text: "Paid." });
    expect(added(earlier, world.effects())).toEqual(["pay smart finished"]);
  });
});

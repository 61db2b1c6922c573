/** @jsxImportSource toolwright */
/** Rule 38: a fork copies a run up to a cut, and never repeats an effect of its parent silently. */
import {
  createRuntime,
  createWorker,
  createWorkflows,
  defineTool,
  runWorkflow,
  type Runtime,
  type WorkflowDefinition,
} from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, until, watchStore, type World } from "../semantics/harness.ts";

interface Shop {
  readonly sent: string[];
  readonly computed: string[];
  readonly shop: WorkflowDefinition;
}

const schemas = {
  input: z.object({ item: z.string() }),
  priced: z.object({ price: z.number() }),
  ordered: z.object({ id: z.string() }),
  output: z.object({ text: z.string() }),
};

/** Three tasks: one computes, one orders, one mails. Effects are counted outside. */
function createShop(options: { readonly businessKey?: boolean; readonly onMail?: () => unknown } = {}): Shop {
  const sent: string[] = [];
  const computed: string[] = [];
  const order = defineTool({
    name: "order",
    schema: z.object({ item: z.string(), price: z.number() }),
    outputSchema: z.object({ id: z.string() }),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    ...(options.businessKey === true ? { idempotencyKey: ({ item }: { item: string }) => item } : {}),
    execute: async ({ item }) => {
      sent.push(`order ${item}`);
      return { id: `o${sent.length}` };
    },
  });
  const mail = defineTool({
    name: "mail",
    schema: z.object({ id: z.string() }),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: false,
    execute: async ({ id }) => {
      sent.push(`mail ${id}`);
      await options.onMail?.();
      return "sent";
    },
  });
  const { Workflow, Task, workflow, outputs } = createWorkflows(schemas);
  const shop = workflow((ctx) => (
    <Workflow name="shop">
      <Task id="price" output={outputs.priced}>
        {() => {
          computed.push("price");
          return { price: 3 };
        }}
      </Task>
      <Task id="buy" output={outputs.ordered} deps={{ price: outputs.priced }} retries={0}>
        {async (deps) => {
          computed.push("buy");
          return order.execute({ item: ctx.input.item, price: deps.price.price });
        }}
      </Task>
      <Task id="tell" output={outputs.output} deps={{ buy: outputs.ordered }} retries={0}>
        {async (deps) => {
          computed.push("tell");
          await mail.execute({ id: deps.buy.id });
          return { text: `mailed ${deps.buy.id}` };
        }}
      </Task>
    </Workflow>
  ));
  return { sent, computed, shop };
}

const input = { item: "pear" };

async function finished(world: World, made = createShop()) {
  const runtime = await world.runtime();
  const result = await runWorkflow(made.shop, { runtime, runId: "p", input });
  return { ...made, runtime, result, before: await rowsOf(world, "p") };
}

/** Every row of a run, except what its views derive. */
async function rowsOf(world: World, runId: string): Promise<string> {
  const of = async (sql: string) => JSON.stringify(await world.rows(sql, runId));
  const scopes = "SELECT id FROM toolwright_scopes WHERE run_id = ?1";
  return [
    await of("SELECT * FROM toolwright_runs WHERE id = ?1"),
    await of("SELECT * FROM toolwright_workflow_runs WHERE run_id = ?1"),
    await of("SELECT * FROM toolwright_tasks WHERE run_id = ?1 ORDER BY position"),
    await of("SELECT * FROM toolwright_scopes WHERE run_id = ?1 ORDER BY id"),
    await of(`SELECT * FROM toolwright_calls WHERE scope_id IN (${scopes}) ORDER BY key, attempt`),
    await of("SELECT * FROM toolwright_approvals WHERE run_id = ?1 ORDER BY position"),
    await of("SELECT * FROM toolwright_outlines WHERE run_id = ?1"),
  ].join("\n");
}

/** Retention by a process that runs later. */
async function collect(world: World) {
  const clock = { now: () => Date.now() + 60_000, sleep: () => Promise.resolve() };
  return (await world.runtime({ clock })).gc({ olderThanMs: 0 });
}

const resume = (runtime: Runtime, shop: WorkflowDefinition, runId: string) =>
  runWorkflow(shop, { runtime, runId, resume: true });

describe("runtime.fork", () => {
  it("rule 38: copies everything before the cut under new keys, and never changes the parent", async () => {
    const world = await createWorld();
    const { runtime, shop, sent, computed, before } = await finished(world);
    const fork = await runtime.fork({ runId: "p", at: "tell", effects: "run" });
    expect(fork).toMatchObject({
      parentId: "p",
      at: "tell",
      copied: { tasks: 2, calls: 1 },
      rerun: ["tell"],
    });
    expect(await runtime.describeRun(fork.runId)).toMatchObject({
      status: "queued",
      lineage: { parent: "p", fork: { at: "tell", effects: "run" } },
    });
    computed.length = 0;
    expect(await resume(runtime, shop, fork.runId)).toMatchObject({
      status: "finished",
      output: { text: "mailed o1" },
    });
    expect(computed).toEqual(["tell"]);
    expect(sent).toEqual(["order pear", "mail o1", "mail o1"]);
    expect(await rowsOf(world, "p")).toBe(before);
    expect((await runtime.describeRun("p")).lineage.forks).toEqual([fork.runId]);
    const keys = (await runtime.calls()).map(({ key }) => key);
    expect(new Set(keys).size).toBe(4);
  });

  it("rule 38: by default asks about an equal effect of the parent; the three answers do what they say", async () => {
    const world = await createWorld();
    const { runtime, shop, sent, before } = await finished(world);
    const answers = [
      [{ resolution: "happened" }, "finished", []],
      [{ resolution: "run-again" }, "finished", ["mail o1"]],
      [{ resolution: "give-up" }, "failed", []],
    ] as const;
    for (const [decision, status, effects] of answers) {
      sent.length = 0;
      const { runId } = await runtime.fork({ runId: "p", at: "tell" });
      expect(await resume(runtime, shop, runId)).toMatchObject({ status: "waiting-approval" });
      expect(sent).toEqual([]);
      const [request] = await runtime.approvals({ runId, status: "pending" });
      expect(request).toMatchObject({ kind: "replay", toolName: "mail" });
      expect(request?.prompt).toContain('Run "p"');
      const { because } = await runtime.explainRun(runId);
      expect(because.join("\n")).toMatch(/The call of "mail" in task "tell" .* waits for an answer: Run "p"/);
      await runtime.resolveToolApproval(request?.id ?? "", decision);
      expect(await resume(runtime, shop, runId)).toMatchObject({ status });
      expect(sent).toEqual(effects);
    }
    expect(await rowsOf(world, "p")).toBe(before);
  });

  it("an answer without an output takes the parent's result", async () => {
    const world = await createWorld();
    const { runtime, shop, sent } = await finished(world);
    sent.length = 0;
    const { runId } = await runtime.fork({ runId: "p", at: "buy" });
    await resume(runtime, shop, runId);
    const [request] = await runtime.approvals({ runId, status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { resolution: "happened" });
    await resume(runtime, shop, runId);
    // The next equal effect needs an answer, and the request has the id that the parent's order returned.
    expect(await runtime.approvals({ runId, status: "pending" })).toMatchObject([
      { toolName: "mail", args: { id: "o1" } },
    ]);
    expect(sent).toEqual([]);
  });

  it("reuses the parent's results, and the fork reverts only its own effects", async () => {
    const world = await createWorld();
    const { runtime, shop, sent } = await finished(world);
    const { runId } = await runtime.fork({ runId: "p", at: "buy", effects: "reuse" });
    expect(await resume(runtime, shop, runId)).toMatchObject({ status: "finished" });
    expect(sent).toEqual(["order pear", "mail o1"]);
    expect(await runtime.revert({ runId, dryRun: true })).toMatchObject({ reverted: [], left: [] });
    const run = await runtime.fork({ runId: "p", at: "tell", effects: "run" });
    await resume(runtime, shop, run.runId);
    expect((await runtime.revert({ runId: run.runId, dryRun: true })).left).toMatchObject([{ tool: "mail" }]);
  });

  it("starts from the start with another input, and with different outputs before the cut", async () => {
    const world = await createWorld();
    const { runtime, shop, sent } = await finished(world);
    const other = await runtime.fork({ runId: "p", input: { item: "apple" } });
    expect(other).toMatchObject({ copied: { tasks: 0, calls: 0 } });
    expect(await resume(runtime, shop, other.runId)).toMatchObject({ status: "finished" });
    expect(sent).toEqual(["order pear", "mail o1", "order apple", "mail o3"]);
    const changed = await runtime.fork({ runId: "p", at: "tell", outputs: { buy: { id: "mine" } } });
    expect(await resume(runtime, shop, changed.runId)).toMatchObject({ output: { text: "mailed mine" } });
    await expect(
      resume(runtime, shop, (await runtime.fork({ runId: "p", input: { item: 1 } })).runId),
    ).rejects.toMatchObject({ code: "WORKFLOW_INPUT_INVALID" });
  });

  it("fails before anything runs if an output that it was given does not match the schema of its task", async () => {
    const world = await createWorld();
    const { runtime, shop, sent, computed } = await finished(world);
    const before = [...sent, ...computed];
    const { runId } = await runtime.fork({ runId: "p", at: "tell", outputs: { buy: { id: 7 } } });
    const message = expect.stringMatching(/task "buy".*"ordered": id: .*expected string, received number/);
    // A fork of it has the same output.
    const again = await runtime.fork({ runId, at: "tell" });
    for (const id of [runId, runId, again.runId])
      expect(await resume(runtime, shop, id)).toMatchObject({
        status: "failed",
        error: { code: "WORKFLOW_OUTPUT_INVALID", message },
      });
    expect([...sent, ...computed]).toEqual(before);
  });

  it("parses an output that it was given once, as the output of its task", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const { Workflow, Task, workflow, outputs } = createWorkflows({
      count: z.object({ n: z.string().transform(Number), unit: z.string().default("kg") }),
      output: z.object({ text: z.string() }),
    });
    let isBroken = true;
    const weigh = workflow(() => (
      <Workflow name="weigh">
        <Task id="count" output={outputs.count}>
          {() => ({ n: "1" })}
        </Task>
        <Task id="say" output={outputs.output} deps={{ count: outputs.count }} retries={0}>
          {({ count }) => {
            if (isBroken) throw new Error("broken");
            return { text: JSON.stringify([count.n, count.unit]) };
          }}
        </Task>
      </Workflow>
    )) as WorkflowDefinition;
    await runWorkflow(weigh, { runtime, runId: "p" });
    const { runId } = await runtime.fork({ runId: "p", at: "say", outputs: { count: { n: "12" } } });
    expect(await resume(runtime, weigh, runId)).toMatchObject({ status: "failed" });
    isBroken = false;
    expect(await resume(runtime, weigh, runId)).toMatchObject({ output: { text: '[12,"kg"]' } });
  });

  it("continues a failed run from where it stopped", async () => {
    const world = await createWorld();
    let isBroken = true;
    const made = createShop({
      onMail: () => {
        if (isBroken) throw Object.assign(new Error("no mail"), { effect: "none" });
      },
    });
    const { runtime, shop, sent, computed } = await finished(world, made);
    isBroken = false;
    computed.length = 0;
    const { runId } = await runtime.fork({ runId: "p" });
    expect(await resume(runtime, shop, runId)).toMatchObject({ status: "finished" });
    expect(computed).toEqual(["tell"]);
    expect(sent).toEqual(["order pear", "mail o1", "mail o1"]);
  });

  it.each(["reuse", "run"] as const)(
    "rule 38: always asks about an effect of the parent in doubt or in flight (effects: %s)",
    async (effects) => {
      const world = await createWorld();
      let isHanging = true;
      const made = createShop({ onMail: () => (isHanging ? never() : undefined) });
      const first = await world.runtime();
      void runWorkflow(made.shop, { runtime: first, runId: "p", input }).catch(() => undefined);
      await until(() => made.sent.length === 2);
      const runtime = await world.runtime();
      const inFlight = await runtime.fork({ runId: "p", effects });
      isHanging = false;
      expect(await resume(runtime, made.shop, inFlight.runId)).toMatchObject({ status: "waiting-approval" });
      await world.killAll();
      const later = await world.runtime();
      const dead = await later.fork({ runId: "p", at: "tell", effects });
      expect(await resume(later, made.shop, dead.runId)).toMatchObject({ status: "waiting-approval" });
      expect(made.sent).toEqual(["order pear", "mail o1"]);
      const [request] = await later.approvals({ runId: dead.runId, status: "pending" });
      await later.resolveToolApproval(request?.id ?? "", { resolution: "run-again" });
      expect(await resume(later, made.shop, dead.runId)).toMatchObject({ status: "finished" });
      expect(made.sent).toHaveLength(3);
    },
  );

  it("rule 5: business keys apply with every effects option", async () => {
    const world = await createWorld();
    const made = createShop({ businessKey: true });
    const { runtime, shop, sent } = await finished(world, made);
    for (const effects of ["run", "reuse", "ask"] as const) {
      sent.length = 0;
      const { runId } = await runtime.fork({
        runId: "p",
        at: "buy",
        effects,
        outputs: { price: { price: 3 } },
      });
      await resume(runtime, shop, runId);
      expect(sent.filter((effect) => effect.startsWith("order"))).toEqual([]);
    }
  });

  it("an effect that was reverted in the parent runs in the fork without a question", async () => {
    const world = await createWorld();
    const { Workflow, Task, workflow } = createWorkflows({ output: z.object({}) });
    const ledger: string[] = [];
    const charge = defineTool({
      name: "charge",
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      execute: async (_args, ctx) => void ledger.push("charge", ctx.idempotencyKey.slice(0, 0)),
      revert: () => void ledger.push("refund"),
    });
    const pay = workflow(() => (
      <Workflow name="pay">
        <Task id="pay">{async () => charge.execute({})}</Task>
      </Workflow>
    )) as WorkflowDefinition;
    const runtime = await world.runtime();
    await runWorkflow(pay, { runtime, runId: "p" });
    await runtime.revert({ runId: "p" });
    await expect(resume(runtime, pay, "p")).rejects.toMatchObject({ code: "TOOL_RUN_REVERTED" });
    const { runId } = await runtime.fork({ runId: "p", at: "pay" });
    expect(await resume(runtime, pay, runId)).toMatchObject({ status: "finished" });
    expect(ledger.filter((line) => line !== "")).toEqual(["charge", "refund", "charge"]);
  });

  it("an effect with long arguments that was reverted in the parent runs in the fork too", async () => {
    const world = await createWorld();
    const ledger: string[] = [];
    const send = defineTool({
      name: "send",
      schema: z.object({ text: z.string() }),
      sideEffect: true,
      idempotent: false,
      acceptsIdempotencyKey: false,
      execute: () => void ledger.push("send"),
      revert: () => void ledger.push("unsend"),
    });
    // The log shows a preview of the arguments.
    const runtime = await world.runtime({ maxOutputBytes: 100 });
    const program = (runId: string) =>
      runtime.run({ runId }, async () => {
        await runtime.call(send, { text: "long ".repeat(200) });
        throw new Error("stopped");
      });
    await program("p").catch(() => undefined);
    await runtime.revert({ runId: "p" });
    const fork = await runtime.fork({ runId: "p" });
    expect(fork.copied.calls).toBe(0);
    await program(fork.runId).catch(() => undefined);
    expect(ledger).toEqual(["send", "unsend", "send"]);
  });

  it("a task that failed before the cut with continueOnFail does not run again", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const ran: string[] = [];
    const { Workflow, Task, workflow } = createWorkflows({ output: z.object({}) });
    const definition = workflow(() => (
      <Workflow name="w">
        <Task id="optional" retries={0} continueOnFail>
          {() => {
            ran.push("optional");
            throw new Error("not today");
          }}
        </Task>
        <Task id="last">{() => void ran.push("last")}</Task>
      </Workflow>
    )) as WorkflowDefinition;
    await runWorkflow(definition, { runtime, runId: "p" });
    const fork = await runtime.fork({ runId: "p", at: "last" });
    expect(fork).toMatchObject({ copied: { tasks: 1 }, rerun: ["last"] });
    expect(await resume(runtime, definition, fork.runId)).toMatchObject({ status: "finished" });
    expect(ran).toEqual(["optional", "last", "last"]);
    await expect(runtime.fork({ runId: "p", at: "last", outputs: { optional: {} } })).rejects.toThrow(
      "failed or was skipped",
    );
  });

  it("a fork of a fork compares with every run before it", async () => {
    const world = await createWorld();
    const { runtime, shop, sent } = await finished(world);
    const one = await runtime.fork({ runId: "p", at: "tell" });
    const two = await runtime.fork({ runId: one.runId, at: "tell", effects: "reuse" });
    expect(await resume(runtime, shop, two.runId)).toMatchObject({ status: "finished" });
    expect(sent).toEqual(["order pear", "mail o1"]);
    expect(await runtime.describeRun(two.runId)).toMatchObject({ lineage: { parent: one.runId } });
  });

  it("changes nothing in a dry run, and refuses bad input with what to do", async () => {
    const world = await createWorld();
    const { runtime } = await finished(world);
    const counted = async () =>
      JSON.stringify(await world.rows("SELECT COUNT(*) AS runs FROM toolwright_runs"));
    const runs = await counted();
    expect(await runtime.fork({ runId: "p", at: "buy", dryRun: true })).toMatchObject({
      dryRun: true,
      copied: { tasks: 1, calls: 0 },
      rerun: ["buy", "tell"],
    });
    const refused = (options: object) =>
      runtime
        .fork({ runId: "p", ...options })
        .catch((error: unknown) => error as { code: string; message: string; hint: string });
    const invalid = { code: "TOOL_FORK_INVALID" };
    expect(await refused({})).toMatchObject({
      ...invalid,
      message: expect.stringContaining('"price", "buy", "tell"'),
    });
    expect(await refused({ at: "nowhere" })).toMatchObject({
      ...invalid,
      message: expect.stringContaining('"price"'),
    });
    expect(await refused({ at: "tell", outputs: { pay: 1 } })).toMatchObject(invalid);
    expect(await refused({ at: "buy", outputs: { tell: {} } })).toMatchObject(invalid);
    expect(await refused({ at: "tell", effects: "maybe" })).toMatchObject({ code: "TOOL_OPTION_INVALID" });
    expect(await refused({ runId: "none", at: "x" })).toMatchObject({ code: "TOOL_RUN_NOT_FOUND" });
    const [call] = await runtime.calls({ runId: "p", toolName: "mail" });
    expect(await refused({ at: call?.key })).toMatchObject({
      ...invalid,
      hint: expect.stringContaining('recording: "keep"'),
    });
    expect(await counted()).toBe(runs);
  });

  it("rule 38: is one transaction: a failure at any statement leaves nothing, and the parent as it was", async () => {
    const world = await createWorld();
    const { before } = await finished(world);
    const tables = ["runs", "workflow_runs", "tasks", "scopes", "calls", "payloads", "forks", "outlines"];
    const counted = async () => {
      const counts: unknown[] = [];
      for (const table of tables)
        counts.push(await world.rows(`SELECT COUNT(*) AS n FROM toolwright_${table}`));
      return JSON.stringify(counts);
    };
    const rows = await counted();
    for (let failAt = 1, isOver = false; !isOver; failAt += 1) {
      let statements = 0;
      let isForking = false;
      const store = watchStore(await world.open(), {
        onStatement: () => {
          if (isForking && (statements += 1) === failAt) throw new Error("the process died");
        },
      });
      const runtime = createRuntime({ store });
      await runtime.ready();
      isForking = true;
      const made = await runtime.fork({ runId: "p", at: "tell" }).catch(() => undefined);
      isForking = false;
      isOver = made !== undefined;
      if (!isOver) expect([failAt, await counted()]).toEqual([failAt, rows]);
      else expect(failAt).toBeGreaterThan(10);
    }
    expect(await rowsOf(world, "p")).toBe(before);
  });

  it("rule 30: a run that retention deleted cannot be forked, and one with an open fork is not deleted", async () => {
    const world = await createWorld();
    const { runtime, shop } = await finished(world);
    const fork = await runtime.fork({ runId: "p", at: "tell", effects: "run" });
    expect(await collect(world)).toMatchObject({ deletedRuns: 0 });
    await resume(runtime, shop, fork.runId);
    expect(await collect(world)).toMatchObject({ deletedRuns: 2 });
    await expect(runtime.fork({ runId: "p", at: "tell" })).rejects.toMatchObject({
      code: "TOOL_RUN_DELETED",
    });
  });
});

// PostgreSQL workers have their own tests.
it.skipIf(process.env["TOOLWRIGHT_TEST_STORE"] === "postgres")("a worker runs a fork", async () => {
  const world = await createWorld();
  const { runtime, shop, sent } = await finished(world);
  const worker = createWorker({ runtime, workflows: { shop } });
  await worker.start();
  const { runId } = await runtime.fork({ runId: "p", at: "tell", effects: "run" });
  await until(async () => (await runtime.describeRun(runId)).status === "finished");
  await worker.drain();
  expect(sent).toEqual(["order pear", "mail o1", "mail o1"]);
});

describe("a fork of a program", () => {
  it("starts at a call of a run that did not finish", async () => {
    const world = await createWorld();
    const sent: number[] = [];
    const send = defineTool({
      name: "send",
      schema: z.object({ n: z.number() }),
      sideEffect: true,
      idempotent: false,
      acceptsIdempotencyKey: false,
      execute: async ({ n }) => sent.push(n),
    });
    const work = async (): Promise<void> => {
      for (const n of [1, 2, 3]) await send.execute({ n });
      if (sent.length === 3) throw new Error("stop");
    };
    const runtime = await world.runtime();
    await expect(runtime.run({ runId: "p" }, work)).rejects.toThrow("stop");
    const [, second] = await runtime.calls({ runId: "p" });
    const { runId } = await runtime.fork({ runId: "p", at: second?.key, effects: "run" });
    await runtime.run({ runId }, work);
    expect(sent).toEqual([1, 2, 3, 2, 3]);
    expect((await world.log(runId)).map(({ status }) => status)).toEqual(["success", "success", "success"]);
  });
});

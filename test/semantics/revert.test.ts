/** Rule 39: a revert is a separate call, and happens at most once for each effect. Effects are counted outside. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, defineTool, type Runtime, type Store, type ToolPolicies } from "toolwright";
import { edit, write } from "toolwright/tools";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createWorld, never, until, watchStore, type World } from "./harness.ts";
import { harmless } from "./tools.ts";

type Policies = ToolPolicies<{ amount: number; card?: string | undefined }, { id: string }, object>;

interface Ledger {
  readonly charges: number[];
  readonly refunds: {
    amount: number;
    output: unknown;
    effectStatus: string;
    original: string;
    key: string;
    nodeId: string;
    attempt: number;
  }[];
}

/** A charge and its refund, both counted outside. */
function createPayments(policies: Policies = {}, onRefund: (count: number) => unknown = () => undefined) {
  const ledger: Ledger = { charges: [], refunds: [] };
  const charge = defineTool({
    name: "charge",
    schema: z.object({ amount: z.number(), card: z.string().optional() }),
    sideEffect: true,
    idempotent: false,
    async execute({ amount }, ctx) {
      void ctx.idempotencyKey;
      ledger.charges.push(amount);
      return { id: `ch_${amount}` };
    },
    async revert({ amount }, ctx) {
      ledger.refunds.push({
        amount,
        output: ctx.output,
        effectStatus: ctx.effectStatus,
        original: ctx.originalIdempotencyKey,
        key: ctx.idempotencyKey,
        nodeId: ctx.nodeId,
        attempt: ctx.attempt,
      });
      await onRefund(ledger.refunds.length);
    },
    ...policies,
  });
  return { charge, ledger };
}

async function chargeEach(runtime: Runtime, tool: object, amounts: readonly number[], runId = "r1") {
  await runtime.run({ runId, nodeId: "pay" }, async () => {
    for (const amount of amounts) await runtime.call(tool, { amount });
  });
}

/** Retention by a process that runs later. */
async function collect(world: World) {
  const clock = { now: () => Date.now() + 60_000, sleep: () => Promise.resolve() };
  return (await world.runtime({ clock })).gc({ olderThanMs: 0 });
}

const tools = (entries: readonly { readonly tool: string; readonly key: string }[]) =>
  entries.map(({ tool }) => tool);

describe("runtime.revert", () => {
  it("rule 39: reverts newest first, each with its own key, and once per effect", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments();
    const runtime = await world.runtime({ tools: [charge] });
    await chargeEach(runtime, charge, [1, 2, 3]);
    const originals = (await runtime.calls({ runId: "r1" })).map(({ key }) => key);
    const report = await runtime.revert({ runId: "r1" });
    expect(ledger.refunds.map(({ amount }) => amount)).toEqual([3, 2, 1]);
    expect(ledger.refunds[0]).toMatchObject({
      output: { id: "ch_3" },
      effectStatus: "succeeded",
      original: originals[2],
      nodeId: "pay",
      attempt: 1,
    });
    expect(new Set([...originals, ...ledger.refunds.map(({ key }) => key)]).size).toBe(6);
    expect(report).toMatchObject({ runId: "r1", dryRun: false, left: [], failed: [], pending: [] });
    expect(report.reverted.map(({ key }) => key)).toEqual(originals.toReversed());
    const again = await (await world.runtime({ tools: [charge] })).revert({ runId: "r1" });
    expect(again.reverted.map(({ already }) => already)).toEqual([true, true, true]);
    expect(ledger.refunds).toHaveLength(3);
    const log = await world.log("r1");
    expect(log.filter(({ tool_name }) => tool_name === "revert:charge")).toHaveLength(3);
  });

  it.each([undefined, "ship"])(
    "rule 39: reverts the calls of two tasks in their order, though all began in one millisecond (from %s)",
    async (from) => {
      const world = await createWorld();
      const { charge, ledger } = createPayments();
      const clock = { now: () => 1_000_000, sleep: () => never<void>() };
      const runtime = await world.runtime({ tools: [charge], clock });
      await chargeEach(runtime, charge, [1, 2, 3]);
      await runtime.run({ runId: "r1", nodeId: "ship" }, () => runtime.call(charge, { amount: 4 }));
      await runtime.revert({ runId: "r1", from });
      const all = [4, 3, 2, 1];
      expect(ledger.refunds.map(({ amount }) => amount)).toEqual(from === undefined ? all : [4]);
    },
  );

  it("shows what would happen in a dry run, and changes nothing", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments();
    const runtime = await world.runtime({ tools: [charge] });
    await chargeEach(runtime, charge, [1, 2]);
    const before = await world.dump();
    const report = await runtime.revert({ runId: "r1", dryRun: true });
    expect(report).toMatchObject({ dryRun: true, reverted: [{ tool: "charge" }, { tool: "charge" }] });
    expect(await world.dump()).toBe(before);
    expect(ledger.refunds).toEqual([]);
    // Nothing stops the run from continuing.
    expect(await runtime.call(charge, { amount: 9 }, { runId: "r1" })).toMatchObject({ status: "success" });
  });

  it("leaves effects without a revert, and does not mention reads", async () => {
    const world = await createWorld();
    const mail = defineTool({
      name: "mail",
      schema: z.object({}),
      sideEffect: true,
      execute: async () => "sent",
    });
    const look = defineTool({ name: "look", schema: z.object({}), execute: async () => "seen" });
    const runtime = await world.runtime({ tools: [mail, look] });
    await runtime.run({ runId: "r1" }, async () => {
      await runtime.call(look, {});
      await runtime.call(mail, {});
    });
    const report = await runtime.revert({ runId: "r1" });
    expect(report).toMatchObject({ reverted: [], failed: [], pending: [] });
    expect(report.left).toMatchObject([{ tool: "mail", reason: expect.stringContaining("no revert") }]);
  });

  it("leaves an idempotent effect too, in a process that defines its tool and has not called it", async () => {
    const world = await createWorld();
    const put = defineTool({
      name: "put-idempotent",
      schema: z.object({}),
      sideEffect: true,
      idempotent: true,
      execute: () => "stored",
    });
    await (await world.runtime()).call(put, {}, { runId: "r1" });
    const report = await (await world.runtime()).revert({ runId: "r1" });
    expect(report).toMatchObject({
      reverted: [],
      left: [{ tool: "put-idempotent", reason: expect.stringContaining("no revert function") }],
    });
  });

  it("reverts an error after execute began as unknown, and nothing that had no effect or was denied", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments({
      async execute({ amount }: { amount: number }) {
        if (amount === 2) throw new Error("the line broke");
        if (amount === 3) throw harmless("refused");
        return { id: "x" };
      },
      needsApproval: ({ amount }) => amount === 4,
    } as Policies);
    const runtime = await world.runtime({ tools: [charge] });
    await runtime.run({ runId: "r1" }, async () => {
      for (const amount of [1, 2, 3]) await runtime.call(charge, { amount });
      const asked = await runtime.call(charge, { amount: 4 });
      if (asked.status !== "pending") throw new Error("it must wait");
      await runtime.resolveToolApproval(asked.approval.id, { approved: false });
      await runtime.call(charge, { amount: 4 });
      await runtime.call(charge, { amount: "no" } as never);
    });
    await runtime.revert({ runId: "r1" });
    expect(ledger.refunds.map(({ amount, effectStatus }) => [amount, effectStatus])).toEqual([
      [2, "unknown"],
      [1, "succeeded"],
    ]);
    expect(ledger.refunds[0]?.output).toBeUndefined();
  });

  it("continues with older effects after a failure, and tries the failed one again later", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments({}, (count) => {
      if (count === 1) throw harmless("try later");
    });
    const runtime = await world.runtime({ tools: [charge] });
    await chargeEach(runtime, charge, [1, 2]);
    const first = await runtime.revert({ runId: "r1" });
    expect(first).toMatchObject({
      reverted: [{ tool: "charge" }],
      failed: [{ tool: "charge", reason: expect.stringContaining("try later") }],
    });
    expect(ledger.refunds.map(({ amount }) => amount)).toEqual([2, 1]);
    const second = await runtime.revert({ runId: "r1" });
    expect(second.reverted).toHaveLength(2);
    expect(ledger.refunds.map(({ amount }) => amount)).toEqual([2, 1, 2]);
  });

  it("a revert that needs approval asks, and runs once after it", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments({ revertNeedsApproval: ({ amount }) => amount > 1 });
    const runtime = await world.runtime({ tools: [charge] });
    await chargeEach(runtime, charge, [1, 2]);
    const first = await runtime.revert({ runId: "r1" });
    expect(first).toMatchObject({ reverted: [{}], pending: [{ tool: "charge" }] });
    const [request] = await runtime.approvals({ status: "pending" });
    expect(request).toMatchObject({ toolName: "revert:charge", args: { args: { amount: 2 } } });
    expect(request?.id).toBe(first.pending[0]?.approvalId);
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
    expect((await runtime.revert({ runId: "r1" })).reverted).toHaveLength(2);
    expect(ledger.refunds.map(({ amount }) => amount)).toEqual([1, 2]);
  });

  it("leaves an effect whose revert was denied", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments({ revertNeedsApproval: true });
    const runtime = await world.runtime({ tools: [charge] });
    await chargeEach(runtime, charge, [1]);
    const { pending } = await runtime.revert({ runId: "r1" });
    await runtime.resolveToolApproval(pending[0]?.approvalId ?? "", { approved: false });
    expect((await runtime.revert({ runId: "r1" })).left).toMatchObject([
      { reason: "Its revert was denied." },
    ]);
    expect(ledger.refunds).toEqual([]);
  });

  it("rule 39: a revert that died in the middle is in doubt, and is never repeated silently", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments({ acceptsIdempotencyKey: false }, (count) =>
      count === 1 ? never() : undefined,
    );
    const first = await world.runtime({ tools: [charge] });
    await chargeEach(first, charge, [1, 2]);
    void first.revert({ runId: "r1" }).catch(() => undefined);
    await until(() => ledger.refunds.length === 1);
    await world.killAll();
    const second = await world.runtime({ tools: [charge] });
    const report = await second.revert({ runId: "r1" });
    // The older one is reverted meanwhile.
    expect(report).toMatchObject({ reverted: [{}], pending: [{ tool: "charge" }] });
    expect(ledger.refunds.map(({ amount }) => amount)).toEqual([2, 1]);
    const [request] = await second.approvals({ status: "pending" });
    expect(request).toMatchObject({ kind: "replay" });
    await second.resolveToolApproval(request?.id ?? "", { resolution: "happened" });
    expect((await second.revert({ runId: "r1" })).reverted).toHaveLength(2);
    expect(ledger.refunds).toHaveLength(2);
  });

  it("rule 39: runs again with the same key if the revert passes its key on", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments({}, (count) => (count === 1 ? never() : undefined));
    const first = await world.runtime({ tools: [charge] });
    await chargeEach(first, charge, [1]);
    void first.revert({ runId: "r1" }).catch(() => undefined);
    await until(() => ledger.refunds.length === 1);
    await world.killAll();
    expect((await (await world.runtime({ tools: [charge] })).revert({ runId: "r1" })).reverted).toHaveLength(
      1,
    );
    expect(ledger.refunds).toHaveLength(2);
    expect(ledger.refunds[1]?.key).toBe(ledger.refunds[0]?.key);
  });

  it("rule 39: a call whose process died is reverted as unknown", async () => {
    const world = await createWorld();
    let begun = 0;
    const { charge, ledger } = createPayments({
      execute: () => {
        begun += 1;
        return never<{ id: string }>();
      },
    } as Policies);
    void (await world.runtime()).call(charge, { amount: 5 }, { runId: "r1" }).catch(() => undefined);
    await until(() => begun === 1);
    const runtime = await world.runtime({ tools: [charge] });
    await expect(runtime.revert({ runId: "r1" })).rejects.toMatchObject({ code: "TOOL_RUN_CONFLICT" });
    await world.killAll();
    await (await world.runtime({ tools: [charge] })).revert({ runId: "r1" });
    expect(ledger.refunds).toMatchObject([{ amount: 5, effectStatus: "unknown" }]);
    expect(await world.log("r1")).toMatchObject([{ status: "unknown" }, { status: "success" }]);
  });

  it("an effect that happens after its revert is shown as late, and the next revert undoes it", async () => {
    const world = await createWorld();
    const late = Promise.withResolvers<{ id: string }>();
    const { charge, ledger } = createPayments({ timeoutMs: 20, execute: () => late.promise } as Policies);
    const runtime = await world.runtime({ tools: [charge] });
    expect(await runtime.call(charge, { amount: 1 }, { runId: "r1" })).toMatchObject({ status: "error" });
    expect((await runtime.revert({ runId: "r1" })).reverted).toMatchObject([{ effectStatus: "unknown" }]);
    late.resolve({ id: "ch_late" });
    await until(
      async () => (await runtime.calls({ runId: "r1", toolName: "charge" }))[0]?.effect === "happened",
    );
    const shown = await runtime.revert({ runId: "r1", dryRun: true });
    expect(shown.reverted).toMatchObject([{ late: true, already: false }]);
    expect((await runtime.explainRun("r1")).because.join(" ")).toContain("late");
    // The effect is there: a fork must not repeat it silently.
    const again = async () => {
      const { runId } = await runtime.fork({ runId: "r1", at: "main" });
      return runtime.call(charge, { amount: 1 }, { runId });
    };
    expect(await again()).toMatchObject({ status: "pending" });
    await runtime.revert({ runId: "r1" });
    expect(await again()).toMatchObject({ status: "success" });
    await runtime.revert({ runId: "r1" });
    expect(ledger.refunds).toMatchObject([
      { effectStatus: "unknown", output: undefined },
      { effectStatus: "unknown", output: { id: "ch_late" } },
    ]);
  });

  it("reverts one task and everything after it", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments();
    const runtime = await world.runtime({ tools: [charge] });
    for (const [index, nodeId] of ["one", "two", "three"].entries())
      await runtime.run({ runId: "r1", nodeId }, () => runtime.call(charge, { amount: index + 1 }));
    await runtime.revert({ runId: "r1", from: "two" });
    expect(ledger.refunds.map(({ amount }) => amount)).toEqual([3, 2]);
    await expect(runtime.revert({ runId: "r1", from: "four" })).rejects.toThrow('"one", "two", "three"');
  });

  it("passes redacted arguments as marks", async () => {
    const world = await createWorld();
    const { charge } = createPayments();
    const seen: unknown[] = [];
    const secret = defineTool({
      name: "secret_charge",
      schema: z.object({ amount: z.number(), card: z.string() }),
      sideEffect: true,
      redact: { input: ["card"] },
      execute: async (_args, ctx) => ctx.idempotencyKey,
      revert: (args) => void seen.push(args),
    });
    const runtime = await world.runtime({ tools: [charge, secret] });
    await runtime.call(secret, { amount: 1, card: "4242-4242" }, { runId: "r1" });
    expect((await runtime.revert({ runId: "r1" })).reverted).toHaveLength(1);
    expect(seen).toEqual([{ amount: 1, card: expect.stringMatching(/^\[redacted sha256:/) }]);
    expect(await world.dump()).not.toContain("4242-4242");
  });

  it("is not limited by the limits of the run", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments({ maxExecutionsPerRun: 1 });
    const runtime = await world.runtime({ tools: [charge], limits: { maxToolCalls: 1 } });
    await chargeEach(runtime, charge, [1]);
    await runtime.revert({ runId: "r1" });
    expect(ledger.refunds).toHaveLength(1);
  });
});

describe("a run and its revert", () => {
  async function reverted(world: World) {
    const { charge, ledger } = createPayments();
    const runtime = await world.runtime({ tools: [charge] });
    await chargeEach(runtime, charge, [1]);
    await runtime.call(charge, { amount: 2 }, { runId: "r1" });
    await runtime.revert({ runId: "r1" });
    return { charge, ledger, runtime };
  }

  it("cannot be resumed, in this runtime or another", async () => {
    const world = await createWorld();
    const { charge, ledger, runtime } = await reverted(world);
    const code = "TOOL_RUN_REVERTED";
    await expect(runtime.run({ runId: "r1", nodeId: "pay" }, () => 1)).rejects.toMatchObject({ code });
    await expect(runtime.run({ runId: "r1", nodeId: "more" }, () => 1)).rejects.toMatchObject({ code });
    // The scope of bare calls is still open in this runtime.
    await expect(runtime.call(charge, { amount: 3 }, { runId: "r1" })).rejects.toMatchObject({ code });
    const other = await world.runtime();
    await expect(other.call(charge, { amount: 3 }, { runId: "r1" })).rejects.toMatchObject({ code });
    expect(ledger.charges).toEqual([1, 2]);
    expect((await runtime.describeRun("r1")).revertedAtMs).toBeTypeOf("number");
    const { because, next } = await runtime.explainRun("r1");
    expect(because.join(" ")).toContain("cannot be resumed");
    expect(next.map(({ action }) => action)).not.toContain("resume");
  });

  it("is refused while the run is in progress; the error names cancel", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments();
    const runtime = await world.runtime({ tools: [charge] });
    const other = await world.runtime({ tools: [charge] });
    await runtime.run({ runId: "r1" }, async () => {
      await runtime.call(charge, { amount: 1 });
      for (const one of [runtime, other]) {
        const refused = await one.revert({ runId: "r1" }).catch((error: unknown) => error);
        expect(refused).toMatchObject({
          code: "TOOL_RUN_CONFLICT",
          hint: expect.stringContaining("toolwright cancel r1"),
        });
      }
    });
    expect(ledger.refunds).toEqual([]);
  });

  it("two concurrent reverts: one is refused, and each effect is reverted once", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const { charge, ledger } = createPayments({}, () => gate.promise);
    const runtime = await world.runtime({ tools: [charge] });
    const other = await world.runtime({ tools: [charge] });
    await chargeEach(runtime, charge, [1]);
    const first = runtime.revert({ runId: "r1" });
    await until(() => ledger.refunds.length === 1);
    for (const one of [runtime, other])
      await expect(one.revert({ runId: "r1" })).rejects.toMatchObject({ code: "TOOL_RUN_CONFLICT" });
    gate.resolve();
    expect((await first).reverted).toHaveLength(1);
    expect(ledger.refunds).toHaveLength(1);
  });

  it("ends a run that waits for approval, and its requests", async () => {
    const world = await createWorld();
    const { charge, ledger } = createPayments({ needsApproval: ({ amount }) => amount === 2 });
    const runtime = await world.runtime({ tools: [charge] });
    await chargeEach(runtime, charge, [1, 2]);
    await runtime.revert({ runId: "r1" });
    expect(ledger.refunds.map(({ amount }) => amount)).toEqual([1]);
    expect(await runtime.approvals({ status: "pending" })).toEqual([]);
    expect(await runtime.describeRun("r1")).toMatchObject({ status: "cancelled" });
  });

  it("refuses bad input by name", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const code = "TOOL_OPTION_INVALID";
    await expect(runtime.revert({ runId: "r1", dry: true } as never)).rejects.toMatchObject({ code });
    await expect(runtime.revert({} as never)).rejects.toMatchObject({ code });
    await expect(runtime.revert({ runId: "none" })).rejects.toMatchObject({ code: "TOOL_RUN_NOT_FOUND" });
    const options = { name: "x", schema: z.object({}), execute: () => 1 };
    expect(() => defineTool({ ...options, revert: () => 1 })).toThrow("sideEffect");
    expect(() => defineTool({ ...options, revertNeedsApproval: true })).toThrow("revert");
  });
});

describe("write and edit", () => {
  async function openFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "toolwright-revert-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }
  const patch = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-second secret\n+third\n";

  it("are put back as they were, newest first, and what they replaced is not stored in plain text", async () => {
    const world = await createWorld();
    const folder = await openFolder();
    const runtime = await world.runtime({ rootDir: folder });
    const file = join(folder, "notes.txt");
    await writeFile(file, "first\n");
    await runtime.run({ runId: "r1" }, async () => {
      await runtime.call(write, { path: "notes.txt", content: "second secret\n" });
      await runtime.call(edit, { path: "notes.txt", patch });
      await runtime.call(write, { path: "deep/new.txt", content: "new\n" });
    });
    expect(await readFile(file, "utf8")).toBe("third\n");
    const stored = JSON.stringify(await world.rows("SELECT * FROM toolwright_replaced_files"));
    expect(stored).not.toContain("secret");
    expect(stored).not.toContain(Buffer.from("second secret").toString("base64").slice(0, 12));
    const report = await runtime.revert({ runId: "r1" });
    expect(tools(report.reverted)).toEqual(["write", "edit", "write"]);
    expect(await readFile(file, "utf8")).toBe("first\n");
    await expect(readFile(join(folder, "deep/new.txt"))).rejects.toThrow("ENOENT");
    expect(await collect(world)).toMatchObject({ deletedRuns: 1 });
    expect(await world.rows("SELECT * FROM toolwright_replaced_files")).toEqual([]);
  });

  it("are listed as failed if the file has changed since", async () => {
    const world = await createWorld();
    const folder = await openFolder();
    const runtime = await world.runtime({ rootDir: folder });
    const file = join(folder, "notes.txt");
    await writeFile(file, "first\n");
    await runtime.call(write, { path: "notes.txt", content: "second\n" }, { runId: "r1" });
    await writeFile(file, "by a person\n");
    const report = await runtime.revert({ runId: "r1" });
    expect(report.failed).toMatchObject([
      { tool: "write", reason: expect.stringContaining("changed since") },
    ]);
    expect(await readFile(file, "utf8")).toBe("by a person\n");
    await writeFile(file, "second\n");
    expect((await runtime.revert({ runId: "r1" })).reverted).toHaveLength(1);
    expect(await readFile(file, "utf8")).toBe("first\n");
  });

  it("have nothing to put back if they were interrupted before they replaced the file", async () => {
    const world = await createWorld();
    const folder = await openFolder();
    await writeFile(join(folder, "notes.txt"), "first\n");
    const store = await world.open();
    let isStuck = false;
    const hanging: Store = {
      ...watchStore(store, {}),
      transaction(work, level) {
        const step = work().next();
        isStuck ||= step.done !== true && step.value.sql.includes("INSERT INTO toolwright_replaced_files");
        return isStuck ? never() : store.transaction(work, level);
      },
    };
    const dying = createRuntime({ store: hanging, rootDir: folder });
    void dying.call(write, { path: "notes.txt", content: "second\n" }, { runId: "r1" });
    await until(() => isStuck);
    await world.killAll();
    const runtime = await world.runtime({ rootDir: folder });
    const report = await runtime.revert({ runId: "r1" });
    expect(report).toMatchObject({ reverted: [{ tool: "write", effectStatus: "unknown" }], failed: [] });
    expect(await readFile(join(folder, "notes.txt"), "utf8")).toBe("first\n");
  });

  it("are listed as failed if the file was too large to keep", async () => {
    const world = await createWorld();
    const folder = await openFolder();
    const runtime = createRuntime({ store: await world.open(), rootDir: folder });
    await writeFile(join(folder, "big.txt"), "x".repeat(1_000_001));
    await runtime.call(write, { path: "big.txt", content: "small" }, { runId: "r1" });
    const report = await runtime.revert({ runId: "r1" });
    expect(report.failed).toMatchObject([{ reason: expect.stringContaining("too large to keep") }]);
  });

  const large = (line: string): string => `${line}\n${"x\n".repeat(600_000)}`;

  it("are put back if the file that they wrote is larger than what is kept", async () => {
    const world = await createWorld();
    const folder = await openFolder();
    const runtime = await world.runtime({ rootDir: folder, maxOutputBytes: 10_000_000 });
    const file = join(folder, "notes.txt");
    await writeFile(file, "first\n");
    await runtime.run({ runId: "r1" }, async () => {
      await runtime.call(write, { path: "notes.txt", content: large("second") });
      await runtime.call(write, { path: "new.txt", content: large("new") });
    });
    const report = await runtime.revert({ runId: "r1" });
    expect(report).toMatchObject({ reverted: [{ tool: "write" }, { tool: "write" }], failed: [] });
    expect(await readFile(file, "utf8")).toBe("first\n");
    await expect(readFile(join(folder, "new.txt"))).rejects.toThrow("ENOENT");
  });

  it("are listed as failed if a large file has changed since", async () => {
    const world = await createWorld();
    const folder = await openFolder();
    const runtime = await world.runtime({ rootDir: folder, maxOutputBytes: 10_000_000 });
    const file = join(folder, "notes.txt");
    await runtime.call(write, { path: "notes.txt", content: large("first") }, { runId: "r1" });
    await writeFile(file, large("FIRST"));
    const report = await runtime.revert({ runId: "r1" });
    expect(report.failed).toMatchObject([{ reason: expect.stringContaining("changed since") }]);
    expect(await readFile(file, "utf8")).toBe(large("FIRST"));
  });

  it("keep at most a megabyte of what an edit replaces", async () => {
    const world = await createWorld();
    const folder = await openFolder();
    const runtime = await world.runtime({ rootDir: folder, maxOutputBytes: 10_000_000 });
    const file = join(folder, "notes.txt");
    await writeFile(file, large("second secret"));
    const hunk = patch.replace("@@ -1 +1 @@", "@@ -1,2 +1,2 @@");
    await runtime.call(edit, { path: "notes.txt", patch: `${hunk} x\n` }, { runId: "r1" });
    const report = await runtime.revert({ runId: "r1" });
    expect(report.failed).toMatchObject([{ reason: expect.stringContaining("too large to keep") }]);
    expect(await readFile(file, "utf8")).toBe(large("third"));
  });

  it("put a large file back after a write that was interrupted once it had replaced the file", async () => {
    const world = await createWorld();
    const folder = await openFolder();
    const file = join(folder, "notes.txt");
    await writeFile(file, "first\n");
    const store = await world.open();
    let isStuck = false;
    const hanging: Store = {
      ...watchStore(store, {}),
      async transaction(work, level) {
        if ((await readFile(file, "utf8")) === "first\n") return store.transaction(work, level);
        isStuck = true;
        return never();
      },
    };
    const content = large("second");
    const dying = createRuntime({ store: hanging, rootDir: folder, maxOutputBytes: 10_000_000 });
    void dying.call(write, { path: "notes.txt", content }, { runId: "r1" });
    await until(() => isStuck);
    await world.killAll();
    const runtime = await world.runtime({ rootDir: folder, maxOutputBytes: 10_000_000 });
    await runtime.call(write, { path: "notes.txt", content }, { runId: "r1" });
    const report = await runtime.revert({ runId: "r1" });
    expect(report).toMatchObject({ reverted: [{ tool: "write" }], failed: [] });
    expect(await readFile(file, "utf8")).toBe("first\n");
  });
});

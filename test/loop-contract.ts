/**
 * The guarantees of every loop that runs our tools, whichever package drives it. Each adapter runs the same suite.
 */
import { defineTool, type Runtime, type Tool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createOrder, createPay, createWait, weather } from "./loop-tools.ts";
import { createWorld, never, until } from "./semantics/harness.ts";

export interface LoopCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly id: string;
}

/** One response of the model: calls, or a text that ends the loop. */
export type LoopTurn = string | readonly LoopCall[];

export interface LoopDrive {
  readonly runtime: Runtime;
  readonly runId: string;
  readonly tools: readonly Tool[];
  readonly turns: readonly LoopTurn[];
  readonly signal: AbortSignal;
}

export interface LoopAdapter {
  readonly name: string;
  /**
   * Starts the loop, or resumes the one with the same run id. The adapter chooses the turn by the conversation, so
   * that a resumed loop receives the same responses.
   * @returns the results of the calls as the model reads them, in order; none while the loop is paused
   */
  drive(drive: LoopDrive): Promise<string[]>;
}

const RUN_ID = "contract";

export function loopContract(adapter: LoopAdapter): void {
  const drive = (
    runtime: Runtime,
    tools: readonly Tool[],
    turns: readonly LoopTurn[],
    signal = new AbortController().signal,
  ): Promise<string[]> => adapter.drive({ runtime, runId: RUN_ID, tools, turns, signal });

  describe(adapter.name, () => {
    it("runs a tool once per call, logs it, and sends its output to the model", async () => {
      const runtime = await (await createWorld()).runtime();
      const answers = await drive(runtime, [weather], [[call("weather", { city: "Bern" })], "Done."]);
      expect(answers.map(jsonIn)).toEqual([{ city: "Bern", degrees: 21, unit: "C" }]);
      expect(await runtime.calls()).toMatchObject([{ toolName: "weather", status: "success", tries: 1 }]);
    });

    it("treats equal calls of one response as different calls, even in a replay", async () => {
      const world = await createWorld();
      const { buy, keys } = createBuy();
      const turns = (ids: string): LoopTurn[] => [
        ["pear", "fig", "pear"].map((sku, index) => call("buy", { sku }, `${ids}-${index}`)),
        "Done.",
      ];
      const first = await drive(await world.runtime(), [buy], turns("a"));
      expect(first.map(jsonIn)).toMatchObject([{ sku: "pear" }, { sku: "fig" }, { sku: "pear" }]);
      expect(keys).toHaveLength(3);
      expect(new Set(keys).size).toBe(3);
      await world.killAll();
      expect(await drive(await world.runtime(), [buy], turns("a"))).toEqual(first);
      expect(keys).toHaveLength(3);
    });

    it("repeats no call when a loop that has ended is driven again, even if the ids of the calls are new", async () => {
      const world = await createWorld();
      const { buy, keys } = createBuy();
      const turns = (id: string): LoopTurn[] => [[call("buy", { sku: "fig" }, id)], "Done."];
      const first = await drive(await world.runtime(), [buy], turns("first"));
      await world.killAll();
      expect(await drive(await world.runtime(), [buy], turns("second"))).toEqual(first);
      expect(keys).toHaveLength(1);
    });

    it("does not repeat an effect without a key after a crash between effect and log", async () => {
      const world = await createWorld();
      const { pay, paid, crashed } = createCrashingPay({ readsKey: false });
      const turns: LoopTurn[] = [[call("pay", { amount: 5 })], "Done."];
      void drive(await world.runtime(), [pay], turns).catch(() => undefined);
      await crashed;
      await world.killAll();
      const runtime = await world.runtime();
      await drive(runtime, [pay], turns);
      expect(paid).toHaveLength(1);
      const statuses = (await runtime.calls()).map(({ status }) => status);
      expect(statuses).not.toContain("success");
    });

    it("passes the same idempotency key again after a crash between effect and log", async () => {
      const world = await createWorld();
      const { pay, paid, crashed } = createCrashingPay({ readsKey: true });
      const turns: LoopTurn[] = [[call("pay", { amount: 5 })], "Done."];
      void drive(await world.runtime(), [pay], turns).catch(() => undefined);
      await crashed;
      await world.killAll();
      const answers = await drive(await world.runtime(), [pay], turns);
      expect(answers).toEqual([expect.stringContaining('"paid":5')]);
      expect(paid).toHaveLength(2);
      expect(new Set(paid).size).toBe(1);
    });

    it("waits for approval without running the tool, then resumes and runs it once", async () => {
      const world = await createWorld();
      const { order, placed } = createOrder();
      const turns: LoopTurn[] = [[call("order", { sku: "fig" })], "Done."];
      const runtime = await world.runtime();
      await drive(runtime, [order], turns);
      expect(placed).toEqual([]);
      const [request, ...others] = await runtime.approvals({ status: "pending" });
      expect(request).toMatchObject({ toolName: "order", args: { sku: "fig" } });
      expect(others).toEqual([]);
      await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
      await world.killAll();
      for (let drives = 0; drives < 2; drives += 1) {
        const answers = await drive(await world.runtime(), [order], turns);
        expect(answers.map(jsonIn)).toEqual([{ placed: "fig" }]);
      }
      expect(placed).toEqual(["fig"]);
    });

    it("sends a denial and its comment to the model, and does not run the tool", async () => {
      const { order, placed } = createOrder();
      const turns: LoopTurn[] = [[call("order", { sku: "fig" })], "Done."];
      const runtime = await (await createWorld()).runtime();
      await drive(runtime, [order], turns);
      const [request] = await runtime.approvals({ status: "pending" });
      await runtime.resolveToolApproval(request?.id ?? "", { approved: false, comment: "no figs" });
      const [answer = ""] = await drive(runtime, [order], turns);
      expect(jsonIn(answer)).toMatchObject({
        is_error: true,
        error_type: "approval_denied",
        message: expect.stringContaining("no figs"),
      });
      expect(placed).toEqual([]);
    });

    it("answers invalid input in the standard error shape, logs it, and does not run the tool", async () => {
      const { pay, paid } = createPay();
      const runtime = await (await createWorld()).runtime();
      const [answer = ""] = await drive(runtime, [pay], [[call("pay", { amount: -1 })], "Sorry."]);
      expect(jsonIn(answer)).toEqual(errorShape("input_invalid", "amount"));
      expect(paid).toEqual([]);
      expect(await runtime.calls()).toMatchObject([
        { status: "error", inputJson: '{"amount":-1}', tries: 0 },
      ]);
    });

    it("answers a failure of the tool in the standard error shape, and continues", async () => {
      const fail = defineTool({
        name: "fail",
        schema: z.object({}),
        execute: () => {
          throw new Error("the shop is closed");
        },
      });
      const runtime = await (await createWorld()).runtime();
      const turns: LoopTurn[] = [[call("fail", {})], [call("weather", { city: "Bern" }, "id-2")], "Done."];
      const [failure = "", success = ""] = await drive(runtime, [fail, weather], turns);
      expect(jsonIn(failure)).toEqual(errorShape("execution_failed", "the shop is closed"));
      expect(jsonIn(success)).toMatchObject({ city: "Bern" });
    });

    it("aborts the tool when the loop is aborted, and does not log the call as finished", async () => {
      const { wait, started, reasons } = createWait();
      const runtime = await (await createWorld()).runtime();
      const controller = new AbortController();
      const loop = drive(runtime, [wait], [[call("wait", {})], "Done."], controller.signal);
      const rejected = expect(loop).rejects.toThrow();
      await started;
      controller.abort(new Error("the user left"));
      await rejected;
      await until(async () => (await runtime.calls())[0]?.status === "unknown");
      expect(reasons).toMatchObject([{ code: "TOOL_ABORTED" }]);
      expect(await runtime.calls()).toHaveLength(1);
    });
  });
}

function call(name: string, args: Readonly<Record<string, unknown>>, id = "id-1"): LoopCall {
  return { name, args, id };
}

/** Loops may put their own words in front of the value. */
function jsonIn(text: string): unknown {
  return JSON.parse(text.slice(text.indexOf("{")));
}

function errorShape(type: string, message: string): object {
  return {
    is_error: true,
    error_type: type,
    message: expect.stringContaining(message) as string,
    next_action_hint: expect.any(String) as string,
  };
}

/** A side effect that collects its idempotency keys. */
function createBuy() {
  const keys: (string | null)[] = [];
  const buy = defineTool({
    name: "buy",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    execute: ({ sku }, ctx) => ({ sku, orders: keys.push(ctx.idempotencyKey) }),
  });
  return { buy, keys };
}

/** Has its effect and never returns the first time, as if its process died there. */
function createCrashingPay({ readsKey }: { readonly readsKey: boolean }) {
  const crashed = Promise.withResolvers<void>();
  const paid: (string | null)[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    acceptsIdempotencyKey: readsKey,
    execute: async ({ amount }, ctx): Promise<{ paid: number }> => {
      paid.push(readsKey ? ctx.idempotencyKey : null);
      if (paid.length > 1) return { paid: amount };
      crashed.resolve();
      return never();
    },
  });
  return { pay, paid, crashed: crashed.promise };
}

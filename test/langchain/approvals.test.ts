/** LangChain has no approvals: a pending call is an answer or an interrupt, and the decision is in the store. */
import { type ApprovalRequest, createRuntime, type Runtime } from "toolwright";
import { toLangChainTool } from "toolwright/langchain";
import { expect, test } from "vitest";
import { createOrder } from "../loop-tools.ts";
import { answersIn, loop } from "./harness.ts";

const task = { runId: "run-1" };

async function decide(runtime: Runtime, approved: (sku: string) => boolean = () => true): Promise<void> {
  for (const { id, args } of await runtime.approvals({ status: "pending" })) {
    await runtime.resolveToolApproval(id, { approved: approved((args as { sku: string }).sku) });
  }
}

test("a call that needs approval is answered as pending, and the request is stored", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { order, placed } = createOrder();
  const messages = await runtime.run(task, () =>
    loop([toLangChainTool(order)], [[["order", { sku: "a" }, "id-a"]], "I wait."]),
  );
  expect(answersIn(messages)).toMatchObject([["id-a", "error", expect.stringContaining("approval_pending")]]);
  expect(placed).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([
    { toolName: "order", args: { sku: "a" }, runId: "run-1" },
  ]);
});

test("after the decisions the loop with the same run id runs the approved calls, once, in order", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { order, placed } = createOrder();
  const go = (round: string) =>
    runtime.run(task, () =>
      loop(
        [toLangChainTool(order)],
        [["a", "b", "c"].map((sku) => ["order", { sku }, `${round}-${sku}`]), "done"],
      ),
    );
  await go("first");
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(3);
  await decide(runtime, (sku) => sku !== "b");
  for (const round of ["second", "third"]) {
    expect(answersIn(await go(round))).toMatchObject([
      [`${round}-a`, "success", '{"placed":"a"}'],
      [`${round}-b`, "error", expect.stringContaining("approval_denied")],
      [`${round}-c`, "success", '{"placed":"c"}'],
    ]);
  }
  expect(placed.toSorted()).toEqual(["a", "c"]);
});

test("onPending may interrupt the loop, as LangGraph does, and the loop starts again later", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { order, placed } = createOrder();
  const shown: ApprovalRequest[] = [];
  class Interrupt extends Error {}
  const made = toLangChainTool(order, {
    onPending: (approval) => {
      shown.push(approval);
      throw new Interrupt("wait");
    },
  });
  const go = () => runtime.run(task, () => loop([made], [[["order", { sku: "a" }, "id-a"]], "done"]));
  await expect(go()).rejects.toThrow(Interrupt);
  expect(shown).toMatchObject([{ toolName: "order", args: { sku: "a" }, status: "pending" }]);
  await runtime.resolveToolApproval(shown[0]?.id ?? "", { approved: true });
  expect((await go()).at(-1)?.text).toBe("done");
  expect(placed).toEqual(["a"]);
  expect(shown).toHaveLength(1);
});

test("a program that calls with plain arguments gets the pending call as an error", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { order, placed } = createOrder();
  await expect(runtime.run(task, () => toLangChainTool(order).invoke({ sku: "a" }))).rejects.toMatchObject({
    code: "TOOL_APPROVAL_PENDING",
  });
  expect(placed).toEqual([]);
});

test("outside any run a tool that needs approval is refused and does not run", async () => {
  const { order, placed } = createOrder();
  const messages = await loop([toLangChainTool(order)], [[["order", { sku: "a" }, "id-a"]], "refused"]);
  expect(answersIn(messages)).toMatchObject([
    ["id-a", "error", expect.stringContaining("approval_required")],
  ]);
  expect(placed).toEqual([]);
});

/**
 * Rule 30 for loops: the replay data of an unfinished loop is kept for 7 days, and without limit if it waits for
 * approval.
 */
import { expect, test } from "vitest";
import { runAgentLoop } from "toolwright";
import { createFakeClock } from "toolwright/testing";
import { createStorePath, rowsOf } from "../workflow/harness.ts";
import { call, createOrders, openRuntime, serve, user } from "./harness.ts";

const DAY = 86_400_000;
const model = "claude-test";
const messages = [user("Order.")];

async function responsesIn(store: string): Promise<number> {
  return (await rowsOf(store, "SELECT 1 AS one FROM toolwright_responses")).length;
}

test("an abandoned loop is given up after 7 days, and fails rather than order again", async () => {
  const { placed, order } = createOrders();
  const store = createStorePath();
  const clock = createFakeClock();
  const runtime = openRuntime(store, { clock });
  const { client } = await serve([[call("shop_order", { sku: "apple" })], new Error("overloaded"), "Done."]);
  const options = { client, model, messages, tools: [order], runtime, runId: "r" };
  expect(await runAgentLoop(options)).toMatchObject({ status: "failed", stop: "api-error" });
  await clock.advance(6 * DAY);
  expect(await runtime.gc()).toMatchObject({ clearedRuns: 0 });
  expect(await responsesIn(store)).toBe(1);
  await clock.advance(2 * DAY);
  expect(await runtime.gc()).toMatchObject({ clearedRuns: 1, deletedRuns: 0 });
  expect(await responsesIn(store)).toBe(0);
  await expect(runAgentLoop(options)).rejects.toMatchObject({
    code: "TOOL_RUN_DELETED",
    message: expect.stringContaining("did not finish") as string,
  });
  expect(placed).toEqual(["apple"]);
  await clock.advance(31 * DAY);
  expect(await runtime.gc()).toMatchObject({ deletedRuns: 1, deletedCalls: 1 });
  expect(await rowsOf(store, "SELECT 1 AS one FROM toolwright_turns")).toEqual([]);
});

test("a loop that waits for approval is never deleted", async () => {
  const { placed, order } = createOrders(true);
  const store = createStorePath();
  const clock = createFakeClock();
  const runtime = openRuntime(store, { clock });
  const { client, server } = await serve([[call("shop_order", { sku: "apple" })], "Done."]);
  const options = { client, model, messages, tools: [order], runtime, runId: "r" };
  const { approvals = [] } = await runAgentLoop(options);
  await clock.advance(400 * DAY);
  expect(await runtime.gc()).toMatchObject({ clearedRuns: 0, deletedRuns: 0 });
  await runtime.resolveToolApproval(approvals[0]?.id ?? "", { approved: true });
  expect(await runAgentLoop(options)).toMatchObject({ status: "complete" });
  expect([placed, server.requests.length]).toEqual([["apple"], 2]);
});

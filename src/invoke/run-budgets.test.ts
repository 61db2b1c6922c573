/** Slots and active time of a run within one process. */
import { expect, test } from "vitest";
import type { Call } from "./call.ts";
import { RunBudgets } from "./run-budgets.ts";

const createCall = (): Call => ({ scope: { budgetId: "r1" } }) as unknown as Call;

function createBudgets() {
  const clock = { ms: 0 };
  const budgets = new RunBudgets(() => clock.ms);
  budgets.enter("r1");
  return { budgets, clock };
}

test("a call takes one slot, however often it asks", () => {
  const { budgets } = createBudgets();
  const [one, other] = [createCall(), createCall()];
  expect([one, one, other].map((call) => budgets.tryTakeSlot(call, 1))).toEqual([true, true, false]);
  budgets.freeSlot(one);
  expect(budgets.tryTakeSlot(other, 1)).toBe(true);
});

test("slots are granted in the order of the queue, and no call overtakes", async () => {
  const { budgets } = createBudgets();
  const [holder, first, second, late] = [createCall(), createCall(), createCall(), createCall()];
  budgets.tryTakeSlot(holder, 1);
  const granted: string[] = [];
  const waits = [first, second].map((call) => budgets.queueForSlot(call, 1));
  void waits[0]?.taken.then(() => granted.push("first"));
  void waits[1]?.taken.then(() => granted.push("second"));
  expect(budgets.tryTakeSlot(late, 2)).toBe(false);
  budgets.freeSlot(holder);
  await waits[0]?.taken;
  expect(granted).toEqual(["first"]);
  budgets.freeSlot(first);
  await waits[1]?.taken;
  expect([...budgets.slotHolders("r1")]).toEqual([second]);
});

test("a call that leaves the queue lets the next one in", async () => {
  const { budgets } = createBudgets();
  const [holder, leaving, next] = [createCall(), createCall(), createCall()];
  budgets.tryTakeSlot(holder, 2);
  const wait = budgets.queueForSlot(leaving, 1);
  const behind = budgets.queueForSlot(next, 2);
  wait.leave();
  await behind.taken;
  expect([...budgets.slotHolders("r1")]).toEqual([holder, next]);
});

test("active time counts from the first call to the last, and is taken once", () => {
  const { budgets, clock } = createBudgets();
  clock.ms = 100;
  budgets.enter("r1");
  budgets.leave("r1");
  clock.ms = 150;
  expect(budgets.takeUnrecordedMs("r1")).toBe(150);
  clock.ms = 160;
  expect(budgets.unrecordedMs("r1")).toBe(10);
  budgets.giveBackMs("r1", 150);
  expect(budgets.unrecordedMs("r1")).toBe(160);
  budgets.leave("r1");
  expect(budgets.unrecordedMs("r1")).toBe(0);
});

test("only runs with a time limit are stored while they run", () => {
  const { budgets } = createBudgets();
  budgets.enter("r2");
  budgets.markTimed("r2");
  expect(budgets.timedRuns).toEqual(["r2"]);
});

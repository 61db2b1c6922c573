/** Waits of several processes: which of them never end. */
import { expect, test } from "vitest";
import { endlessWaits } from "./place-deadlock.ts";

const holders = (places: Readonly<Record<string, readonly string[]>>) => new Map(Object.entries(places));

test("two calls that wait for each other's place never end, however long the cycle is", () => {
  const two = [
    { callKey: "a", name: "B" },
    { callKey: "b", name: "A" },
  ];
  expect(endlessWaits(two, holders({ A: ["a"], B: ["b"] }))).toEqual(two);
  const three = [
    { callKey: "a", name: "B" },
    { callKey: "b", name: "C" },
    { callKey: "c", name: "A" },
  ];
  expect(endlessWaits(three, holders({ A: ["a"], B: ["b"], C: ["c"] }))).toEqual(three);
});

test("a wait ends if one holder of the limit does not wait, or waits for one that does not", () => {
  const waits = [
    { callKey: "a", name: "B" },
    { callKey: "b", name: "C" },
    { callKey: "d", name: "A" },
  ];
  expect(endlessWaits(waits, holders({ A: ["a"], B: ["b"], C: ["c"] }))).toEqual([]);
  const cycle = [
    { callKey: "a", name: "B" },
    { callKey: "b", name: "A" },
  ];
  expect(endlessWaits(cycle, holders({ A: ["a"], B: ["b", "other"] }))).toEqual([]);
});

test("a call that waits for a cycle is stuck too; without holders nothing is", () => {
  const waits = [
    { callKey: "a", name: "B" },
    { callKey: "b", name: "A" },
    { callKey: "c", name: "A" },
  ];
  expect(endlessWaits(waits, holders({ A: ["a"], B: ["b"] }))).toEqual(waits);
  expect(endlessWaits(waits, holders({ A: [], B: [] }))).toEqual([]);
  expect(endlessWaits([], holders({}))).toEqual([]);
});

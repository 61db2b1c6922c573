import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "./abort.ts";

test("a signal has one listener, however many callbacks wait for it", () => {
  const controller = new AbortController();
  const { signal } = controller;
  const called: number[] = [];
  const removals = Array.from({ length: 100 }, (_, index) => onAbort(signal, () => called.push(index)));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const remove of removals.slice(3)) remove();
  controller.abort();
  expect(called).toEqual([0, 1, 2]);
});

test("a signal without callbacks has no listener, and takes new ones", () => {
  const controller = new AbortController();
  const { signal } = controller;
  const remove = onAbort(signal, () => undefined);
  remove();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  let calls = 0;
  onAbort(signal, () => (calls += 1));
  // A second removal must not remove the listener of others.
  remove();
  controller.abort();
  expect(calls).toBe(1);
});

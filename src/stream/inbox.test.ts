import { expect, test } from "vitest";
import { Inbox } from "./inbox.ts";
import type { NumberedPart } from "./stream-part.ts";

const piece = (index: number, delta = "x"): NumberedPart => ({
  index,
  attempt: 1,
  response: "1.1.0",
  type: "text-delta",
  id: "t",
  delta,
});
const indexes = (parts: readonly NumberedPart[]): number[] => parts.map(({ index }) => index);

test("keeps parts that fit, and drops everything once it is full", () => {
  const inbox = new Inbox(500);
  for (const index of [0, 1, 2]) inbox.add(piece(index));
  expect(indexes(inbox.take())).toEqual([0, 1, 2]);
  expect(inbox.hasParts).toBe(false);
  for (let index = 3; index < 100; index += 1) inbox.add(piece(index));
  expect(inbox.hasParts).toBe(true);
  expect(inbox.take()).toEqual([]);
  // The last part that was dropped says how far the store must be read.
  expect(inbox.reopen()?.index).toBe(99);
  expect(inbox.hasParts).toBe(false);
  inbox.add(piece(100));
  expect(inbox.reopen()).toBeUndefined();
  expect(indexes(inbox.take())).toEqual([100]);
});

test("limits parts from the store, and lets at least one part through", () => {
  const inbox = new Inbox(500);
  const parts = [0, 1, 2, 3, 4, 5, 6].map((index) => piece(index));
  expect(indexes(inbox.limit(parts))).toEqual([0, 1, 2, 3]);
  expect(inbox.reopen()?.index).toBe(6);
  expect(indexes(inbox.limit([piece(7, "x".repeat(1_000)), piece(8)]))).toEqual([7]);
  expect(inbox.reopen()?.index).toBe(8);
  expect(indexes(inbox.limit([piece(9)]))).toEqual([9]);
  expect(inbox.reopen()).toBeUndefined();
});

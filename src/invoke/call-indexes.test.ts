/** Rules 1, 14 and 20 in memory: which call an equal call is. */
import { describe, expect, test } from "vitest";
import { CallIndexes } from "./call-indexes.ts";

const CALL = { isCheck: false };
const TEXT = '"charge" {"amount":1}';

test("calls that run side by side are different calls", () => {
  const indexes = new CallIndexes();
  expect([1, 2, 3].map(() => indexes.assign(TEXT, CALL))).toEqual([0, 1, 2]);
  expect(indexes.assign('"charge" {"amount":2}', CALL)).toBe(0);
});

test("an equal call after the end is the next call", () => {
  const indexes = new CallIndexes();
  indexes.end(TEXT, indexes.assign(TEXT, CALL));
  expect(indexes.assign(TEXT, CALL)).toBe(1);
});

test("an equal call after a pending one is the same call", () => {
  const indexes = new CallIndexes();
  indexes.release(TEXT, indexes.assign(TEXT, CALL), false);
  expect(indexes.assign(TEXT, CALL)).toBe(0);
});

test("a long text is counted like a short one", () => {
  const indexes = new CallIndexes();
  const long = "x".repeat(1_000);
  expect([indexes.assign(long, CALL), indexes.assign(long, CALL)]).toEqual([0, 1]);
});

describe("calls of one response", () => {
  test("are different calls, even if the first is pending", () => {
    const indexes = new CallIndexes();
    indexes.release(TEXT, indexes.assign(TEXT, { ...CALL, batch: "r1" }), false);
    expect(indexes.assign(TEXT, { ...CALL, batch: "r1" })).toBe(1);
  });

  test("are the pending calls of the previous response", () => {
    const indexes = new CallIndexes();
    indexes.release(TEXT, indexes.assign(TEXT, { ...CALL, batch: "r1" }), false);
    expect(indexes.assign(TEXT, { ...CALL, batch: "r2" })).toBe(0);
  });
});

test("the call after an approval check is the checked call, even while the check runs", () => {
  const indexes = new CallIndexes();
  indexes.assign(TEXT, { isCheck: true, toolCallId: "a" });
  indexes.assign(TEXT, { isCheck: true, toolCallId: "b" });
  expect(indexes.assign(TEXT, { ...CALL, toolCallId: "b" })).toBe(1);
  expect(indexes.assign(TEXT, { ...CALL, toolCallId: "a" })).toBe(0);
});

test("the same site is the same call, even after its end", () => {
  const indexes = new CallIndexes();
  indexes.end(TEXT, indexes.assign(TEXT, { ...CALL, site: "node-1" }));
  indexes.end(TEXT, indexes.assign(TEXT, { ...CALL, site: "node-2" }));
  expect(indexes.assign(TEXT, { ...CALL, site: "node-1" })).toBe(0);
});

describe("messages of a loop", () => {
  test("count the equal calls that this process did not make", () => {
    const indexes = new CallIndexes();
    expect(indexes.assign(TEXT, { ...CALL, history: { earlier: 2, isResumed: false } })).toBe(2);
  });

  test("that contain the call decide its index", () => {
    const indexes = new CallIndexes();
    for (const _ of [1, 2]) indexes.end(TEXT, indexes.assign(TEXT, CALL));
    expect(indexes.assign(TEXT, { ...CALL, history: { earlier: 1, isResumed: true } })).toBe(1);
  });

  test("skip earlier pending calls, but not an interrupted one", () => {
    const indexes = new CallIndexes();
    const history = { earlier: 1, isResumed: false };
    indexes.release(TEXT, indexes.assign(TEXT, CALL), false);
    const next = indexes.assign(TEXT, { ...CALL, history });
    expect(next).toBe(1);
    indexes.end(TEXT, next);
    indexes.release(TEXT, indexes.assign(TEXT, CALL), true);
    expect(indexes.assign(TEXT, { ...CALL, history })).toBe(0);
  });
});

test("a call that the log moves keeps its new index and site", () => {
  const indexes = new CallIndexes();
  indexes.move(TEXT, indexes.assign(TEXT, { ...CALL, site: "s" }), 4);
  expect(indexes.assign(TEXT, { ...CALL, site: "s" })).toBe(4);
  expect(indexes.assign(TEXT, CALL)).toBe(5);
});

describe("a call that waits according to the messages", () => {
  const history = { earlier: 1, isResumed: false, continues: 0 };

  test("is continued by the next equal call, even in another process", () => {
    const indexes = new CallIndexes();
    expect(indexes.assign(TEXT, { ...CALL, history })).toBe(0);
  });

  test("is continued by one call of a response, even if that one has ended before the next is made", () => {
    const indexes = new CallIndexes();
    const request = { ...CALL, history, batch: "r2" };
    indexes.end(TEXT, indexes.assign(TEXT, request));
    expect([indexes.assign(TEXT, request), indexes.assign(TEXT, request)]).toEqual([1, 2]);
  });

  test("is the one whose approval was checked", () => {
    const indexes = new CallIndexes();
    const request = { history, batch: "r2", toolCallId: "a" };
    indexes.release(TEXT, indexes.assign(TEXT, { ...request, isCheck: true }), false);
    expect(indexes.assign(TEXT, { ...request, isCheck: true, toolCallId: "b" })).toBe(1);
    expect(indexes.assign(TEXT, { ...request, isCheck: false })).toBe(0);
  });
});

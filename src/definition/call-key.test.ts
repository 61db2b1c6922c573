/** Keys are the same for the same call, and different for any two calls. Released values are in test/formats. */
import { expect, test } from "vitest";
import { businessKey, callKey, callText, scopeText } from "./call-key.ts";

const scope = { runId: "r", nodeId: "n", iteration: 0, path: "", parentKey: "" };

test("the order of fields does not matter, the values and their types do", () => {
  const text = callText("t", { a: 1, b: 2 });
  expect(callText("t", { b: 2, a: 1 })).toBe(text);
  const others = [callText("t", { a: 1, b: "2" }), callText("t", { a: 1 }), callText("u", { a: 1, b: 2 })];
  expect(new Set([text, ...others]).size).toBe(4);
});

test("ids with quotes, commas and spaces never run into each other", () => {
  const scopes = [
    { ...scope, runId: 'a","b' },
    { ...scope, runId: "a", nodeId: "b" },
    { ...scope, runId: "a b" },
    { ...scope, runId: "a", path: "b" },
    { ...scope, runId: "a", parentKey: "b" },
  ];
  expect(new Set(scopes.map(scopeText)).size).toBe(scopes.length);
});

test("a loop index is part of the path, so the iteration alone changes no key", () => {
  expect(scopeText({ ...scope, iteration: 3 })).toBe(scopeText(scope));
});

test("an index and a callKey of the same text are different", () => {
  expect(callKey("s", 1, "t")).not.toBe(callKey("s", "1", "t"));
});

test("a business key belongs to one tool", () => {
  expect(businessKey("a", "order-1")).not.toBe(businessKey("b", "order-1"));
  expect(businessKey("a", "order-1")).toMatch(/^[\w-]{43}$/);
});

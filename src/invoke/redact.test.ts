/** Paths of `redact`, and the marks that replace their values. */
import { describe, expect, test } from "vitest";
import { holdsMark, mask, markOf, unmask } from "./redact.ts";

const SECRET = "secret of the store";
const mark = (value: unknown): unknown => markOf(value, SECRET);

describe("a path", () => {
  test.each<[string, string, unknown, unknown]>([
    ["names a field", "card", { card: "4242", ok: 1 }, { card: mark("4242"), ok: 1 }],
    ["names a nested field", "card.number", { card: { number: 1 } }, { card: { number: mark(1) } }],
    ["matches every item with *", "keys.*", { keys: ["a", "b"] }, { keys: [mark("a"), mark("b")] }],
    ["matches every field with *", "*.id", { a: { id: 1 }, b: {} }, { a: { id: mark(1) }, b: {} }],
    ["applies to every item of a list", "card", [{ card: 1 }, {}], [{ card: mark(1) }, {}]],
    ["names an index", "list.1", { list: ["a", "b"] }, { list: ["a", mark("b")] }],
    ["matches a field name with dots", "a.b", { "a.b": 1 }, { "a.b": mark(1) }],
    ["hides a text where an object was expected", "card.number", { card: "4242" }, { card: mark("4242") }],
    ["hides a whole subtree", "card", { card: { n: 1 } }, { card: mark({ n: 1 }) }],
    ["ignores a missing field", "card", { ok: 1 }, { ok: 1 }],
  ])("%s", (_name, path, value, expected) => {
    expect(mask(value, [path], SECRET)).toEqual(expected);
  });

  test("reaches into maps, sets and values with toJSON", () => {
    expect(mask(new Map([["card", 1]]), ["card"], SECRET)).toEqual(new Map([["card", mark(1)]]));
    expect(mask(new Set(["a"]), ["*"], SECRET)).toEqual(new Set([mark("a")]));
    expect(mask({ toJSON: () => ({ card: 1 }) }, ["card"], SECRET)).toEqual({ card: mark(1) });
  });

  test("does not change the original", () => {
    const value = { card: { number: 1 } };
    mask(value, ["card.number"], SECRET);
    expect(value).toEqual({ card: { number: 1 } });
  });
});

describe("a mark", () => {
  test("is the same for equal values, and depends on the secret", () => {
    expect(mark({ a: 1, b: 2 })).toBe(mark({ b: 2, a: 1 }));
    expect(mark("4242")).not.toBe(mark(4242));
    expect(mark("4242")).not.toBe(markOf("4242", "another secret"));
  });

  test("of a mark is the mark itself, but a text around a mark is a value", () => {
    const text = mark("4242") as string;
    expect(mark(text)).toBe(text);
    expect(mark(`see ${text}`)).not.toContain("see");
    expect(holdsMark(`see ${text}`)).toBe(true);
  });

  test("in edited arguments stands for the original value", () => {
    const original = { card: "4242", amount: 1, list: ["a", "b"] };
    const edited = { card: mark("4242"), amount: 2, list: ["x", mark("b")] };
    expect(unmask(edited, original)).toEqual({ card: "4242", amount: 2, list: ["x", "b"] });
  });
});

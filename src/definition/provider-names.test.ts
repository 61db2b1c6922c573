import { expect, test } from "vitest";
import { toProviderNames } from "./provider-names.ts";

const FINE = /^[a-zA-Z0-9_-]{1,64}$/;

test("keeps a valid name, and replaces invalid characters", () => {
  expect(toProviderNames(["read", "shop.place_order", "größe"])).toEqual([
    "read",
    "shop_place_order",
    "gr__e",
  ]);
});

test("truncates a long name, and keeps it different from others with the same prefix", () => {
  const long = ["a", "b"].map((end) => `${"x".repeat(80)}${end}`);
  const given = toProviderNames(long);
  expect(given.every((name) => FINE.test(name))).toBe(true);
  expect(new Set(given).size).toBe(2);
});

test("names that would collide get a digest, in any order, and a valid name stays the same", () => {
  const names = ["shop.order", "shop_order", "shop/order", "shop order"];
  const given = new Map(names.map((name, index) => [name, toProviderNames(names)[index]]));
  expect(given.get("shop_order")).toBe("shop_order");
  expect(new Set(given.values()).size).toBe(4);
  const turned = names.toReversed();
  expect(new Map(turned.map((name, index) => [name, toProviderNames(turned)[index]]))).toEqual(given);
});

test("refuses a duplicate name, and one that equals a generated name", () => {
  expect(() => toProviderNames(["read", "read"])).toThrow('Two tools would have the name "read"');
  const [, made = ""] = toProviderNames(["a.b", "a/b"]);
  expect(() => toProviderNames(["a.b", "a/b", made])).toThrow('"a/b"');
});

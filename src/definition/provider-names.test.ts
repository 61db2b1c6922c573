import { expect, test } from "vitest";
import { toProviderNames } from "./provider-names.ts";

const FINE = /^[a-zA-Z0-9_-]{1,64}$/;

test("leaves a name that is fine as it is, and replaces what is refused", () => {
  expect(toProviderNames(["read", "shop.place_order", "größe"])).toEqual([
    "read",
    "shop_place_order",
    "gr__e",
  ]);
});

test("cuts a long name and tells it apart from others with the same beginning", () => {
  const long = ["a", "b"].map((end) => `${"x".repeat(80)}${end}`);
  const given = toProviderNames(long);
  expect(given.every((name) => FINE.test(name))).toBe(true);
  expect(new Set(given).size).toBe(2);
});

test("names that become one are told apart, in any order, and one that was fine keeps its own", () => {
  const names = ["shop.order", "shop_order", "shop/order", "shop order"];
  const given = new Map(names.map((name, index) => [name, toProviderNames(names)[index]]));
  expect(given.get("shop_order")).toBe("shop_order");
  expect(new Set(given.values()).size).toBe(4);
  const turned = names.toReversed();
  expect(new Map(turned.map((name, index) => [name, toProviderNames(turned)[index]]))).toEqual(given);
});

test("refuses a name that comes twice, and one that looks like another's", () => {
  expect(() => toProviderNames(["read", "read"])).toThrow('Two tools would have the name "read"');
  const [, made = ""] = toProviderNames(["a.b", "a/b"]);
  expect(() => toProviderNames(["a.b", "a/b", made])).toThrow('"a/b"');
});

import { expect, expectTypeOf, test } from "vitest";
import {
  columns,
  flag,
  flagOrNull,
  integer,
  type NewRowOf,
  oneOf,
  type RowOf,
  text,
  withDefault,
} from "./table.ts";
import { CALL_END, CALL_START, CALLS } from "./calls.ts";

const ORDERS = columns({
  id: integer("order_id"),
  status: oneOf("status", ["open", "sent"]),
  isPaid: flag("is_paid"),
  isGift: flagOrNull("is_gift"),
  note: withDefault(text("note"), "-"),
});

test("builds the lists of a statement from the columns, with casts for PostgreSQL", () => {
  expect(ORDERS.list()).toBe("order_id, status, is_paid, is_gift, note");
  expect(ORDERS.pick("id", "status").list("o")).toBe("o.order_id, o.status");
  expect(ORDERS.pick("id").list("o", "order_")).toBe("o.order_id AS order_order_id");
  expect(ORDERS.omit("isGift", "note").parameters(4)).toBe("CAST(?4 AS BIGINT), ?5, CAST(?6 AS BIGINT)");
  expect(ORDERS.pick("status", "note").assignments(2)).toBe("status = ?2, note = ?3");
  expect(ORDERS.pick("status", "note").excluded()).toBe("status = excluded.status, note = excluded.note");
});

test("binds values in the order of the columns, and defaults for omitted ones", () => {
  expect(ORDERS.values({ note: "x", isPaid: true, status: "open", id: 1, isGift: false })).toEqual([
    1,
    "open",
    1,
    0,
    "x",
  ]);
  expect(ORDERS.values({ id: 1, status: "sent", isPaid: false })).toEqual([1, "sent", 0, null, "-"]);
  expect(ORDERS.defaults).toEqual({ isGift: null, note: "-" });
});

test("parses the values that it has bound", () => {
  const row = { order_id: 1, status: "sent", is_paid: 1, is_gift: null, note: "x", other: 2 };
  const parsed = { id: 1, status: "sent", isPaid: true, isGift: null, note: "x" } as const;
  expect(ORDERS.parse(row)).toEqual(parsed);
  const prefixed = Object.fromEntries(Object.entries(row).map(([name, value]) => [`o_${name}`, value]));
  expect(ORDERS.parser("o_")(prefixed)).toEqual(parsed);
});

test("refuses a value that the column cannot hold", () => {
  const row = { order_id: 1, status: "sent", is_paid: 1, is_gift: null, note: "x" };
  expect(() => ORDERS.parse({ ...row, order_id: "1" })).toThrow(
    'holds "1" in column "order_id"; expected a number',
  );
  expect(() => ORDERS.parse({ ...row, status: "lost" })).toThrow("expected open | sent");
});

test("derives the types of rows from the columns", () => {
  type Map = (typeof ORDERS)["map"];
  expectTypeOf<RowOf<Map>["status"]>().toEqualTypeOf<"open" | "sent">();
  expectTypeOf<RowOf<Map>["isGift"]>().toEqualTypeOf<boolean | null>();
  expectTypeOf<{ id: number; status: "open"; isPaid: boolean }>().toExtend<NewRowOf<Map>>();
  expectTypeOf<{ id: number; status: "open" }>().not.toExtend<NewRowOf<Map>>();
});

test("a row of a call contains every column that a start or an end writes", () => {
  expect(Object.keys(CALLS.map)).toEqual(
    expect.arrayContaining([...Object.keys(CALL_START.map), ...Object.keys(CALL_END.map)]),
  );
});

import { expect, it } from "vitest";
import { withoutPassword } from "../../src/operate/store-address.ts";

it.each([
  ["postgres://u:secret@host/db", "postgres://u:***@host/db"],
  ["postgresql://u:se@cr/et@host/db", "postgresql://u:***@host/db"],
  ["postgres://:secret@host", "postgres://:***@host"],
  ["postgres://host/db?user=u&password=secret&ssl=1", "postgres://host/db?user=u&password=***&ssl=1"],
  ["postgres://u@host:5432/db", "postgres://u@host:5432/db"],
  ["dir:a@b/app.db", "dir:a@b/app.db"],
])("%s is printed as %s", (store, printed) => {
  expect(withoutPassword(store)).toBe(printed);
});

import { describe, expect, it } from "vitest";
import { fitTable, outputWidth } from "./fitted-table.ts";
import { cutToWidth, textWidth } from "./text-width.ts";

const COLUMNS = [
  { title: "ID" },
  { title: "TEXT", least: 6 },
  { title: "MORE", least: 6 },
  { title: "AGE", drop: 1 },
];
const ID = "0190a2f4-7e2b-7c1d-9b1a-5f3c2d1e0f9a";

const widest = (table: ReturnType<typeof fitTable>): number =>
  Math.max(...[table.head, ...table.rows].flatMap((line) => line.split("\n")).map(textWidth));

describe("a table", () => {
  const row = [ID, "t".repeat(60), "m".repeat(60), "3 h ago"];

  it("is as wide as its cells if they fit", () => {
    const table = fitTable(COLUMNS, [["a", "b", "c", "1 s"]], 80);
    expect(table).toEqual({ head: "ID  TEXT  MORE  AGE", rows: ["a   b     c     1 s"] });
  });

  it.each([80, 100, 150])("fits %i columns, uses them, and never cuts an id", (width) => {
    const table = fitTable(COLUMNS, [row], width);
    expect(widest(table)).toBe(width);
    expect(table.rows[0]).toContain(`${ID}  ttt`);
    expect(table.rows[0]).toContain("…  3 h ago");
  });

  it("omits the least important columns if truncation is not enough", () => {
    const table = fitTable(COLUMNS, [row], 54);
    expect(table.head).toMatch(/^ID +TEXT +MORE$/);
    expect(widest(table)).toBeLessThanOrEqual(54);
  });

  it("puts an id that is too long on its own line", () => {
    const long = "x".repeat(70);
    const table = fitTable(COLUMNS, [[long, "text", "more", "3 h ago"]], 80);
    expect(table.rows).toEqual([`${long}\n    text  more  3 h ago`]);
  });

  it("omits an empty column", () => {
    expect(fitTable(COLUMNS, [["a", "", "c", ""]], 80).head).toBe("ID  MORE");
  });

  it("counts wide letters as two columns", () => {
    expect([textWidth("abc"), textWidth("日本"), textWidth("e\u0301"), textWidth("🙂")]).toEqual([
      3, 4, 1, 2,
    ]);
    expect(cutToWidth("日本語", 5)).toBe("日本…");
    expect(widest(fitTable(COLUMNS, [[ID, "語".repeat(60), "m", ""]], 80))).toBeLessThanOrEqual(80);
  });
});

it("takes the width from the terminal, else from COLUMNS, else 80", () => {
  const before = process.env["COLUMNS"];
  try {
    process.env["COLUMNS"] = "120";
    expect([outputWidth({ columns: 200 }), outputWidth({ columns: 0 }), outputWidth({})]).toEqual([
      200, 120, 120,
    ]);
    process.env["COLUMNS"] = "many";
    expect(outputWidth({})).toBe(80);
  } finally {
    if (before === undefined) delete process.env["COLUMNS"];
    else process.env["COLUMNS"] = before;
  }
});

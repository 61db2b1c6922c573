/**
 * The comparison with other systems is what `npm run bench -- peers` wrote: no number of it was edited, and no system or
 * row is missing. Nothing here is about speed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CONTENDERS } from "../../bench/comparison/contenders.ts";
import { formatLong, formatShort } from "../../bench/comparison/format-cell.ts";
import { readOptions } from "../../bench/comparison/options.ts";
import { renderChart } from "../../bench/comparison/render-chart.ts";
import { renderPage } from "../../bench/comparison/render-page.ts";
import { renderTable } from "../../bench/comparison/render-table.ts";
import { type Cell, type Comparison, ROWS } from "../../bench/comparison/results.ts";
import { openShop } from "../../bench/comparison/shop.ts";
import { ROOT } from "./pages.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const results = JSON.parse(read("docs/comparison.json")) as Comparison;
const REPEAT = "run `npm run bench -- peers` again";

describe("docs/comparison.md", () => {
  test("is the page that the command makes from the stored numbers", () => {
    expect(read("docs/comparison.md"), REPEAT).toBe(renderPage(results));
  });

  test("has the charts that the command makes from the stored numbers", () => {
    const charts = ROWS.map(({ id }) => `comparison-${id}.svg`);
    const found = readdirSync(join(ROOT, "docs/images")).filter((name) => name.startsWith("comparison-"));
    expect(found.toSorted()).toEqual(charts.toSorted());
    for (const { id } of ROWS)
      expect(read(`docs/images/comparison-${id}.svg`), REPEAT).toBe(renderChart(id, results));
  });

  test("has every system, every row, a date and the command", () => {
    expect(results).toMatchObject({ format: 1, command: "npm run bench -- peers" });
    expect(results.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(Object.keys(results.columns)).toEqual(Object.keys(CONTENDERS));
    for (const { id } of ROWS) expect(Object.keys(results.cells[id]), id).toEqual(Object.keys(CONTENDERS));
  });

  test("explains in a sentence each feature that a system lacks", () => {
    const reasons = ROWS.flatMap(({ id }) => Object.values(results.cells[id]))
      .filter((cell) => cell.kind === "cannot")
      .map(({ why }) => why);
    expect(reasons.filter((why) => !/^[A-Z].{20,}\.$/.test(why))).toEqual([]);
  });

  test("has the versions that bench/peers installs", () => {
    const { dependencies } = JSON.parse(read("bench/peers/package.json")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    for (const { versions } of Object.values(results.columns)) {
      const { toolwright: _, ...peers } = versions;
      for (const [name, version] of Object.entries(peers)) expect(version, name).toBe(dependencies[name]);
    }
  });
});

describe("the command", () => {
  test("refuses unknown options and names", () => {
    expect(readOptions(["--quick", "--only", "dbos,mastra"])).toEqual({
      quick: true,
      json: false,
      render: false,
      only: ["dbos", "mastra"],
    });
    expect(() => readOptions(["--fast"])).toThrow("--fast");
    expect(() => readOptions(["--only", "temporal"])).toThrow("temporal");
    expect(() => readOptions(["--only"])).toThrow("--only");
    expect(() => readOptions(["--render", "--quick"])).toThrow("--render");
    expect(readOptions(["--only", "dbos,dbos"]).only).toEqual(["dbos"]);
  });

  test("prints a value or a sentence for every cell", () => {
    const table = renderTable(results);
    for (const { name } of Object.values(results.columns)) expect(table).toContain(name);
    for (const { id } of ROWS)
      for (const cell of Object.values(results.cells[id])) expect(table).toContain(formatShort(id, cell));
  });

  test("names a system that failed in every row, with the reason", () => {
    const why = "Error: it did not load";
    const cells = Object.fromEntries(
      ROWS.map(({ id }) => [id, { dbos: { kind: "failed", why } satisfies Cell }]),
    ) as unknown as Comparison["cells"];
    const failed: Comparison = { ...results, columns: {}, cells };
    const lines = renderTable(failed).split("\n");
    expect(lines[1]).toMatch(/^dbos +failed/);
    expect(lines).toContain(`  loop, dbos: Failed in this run: ${why}`);
    expect(renderPage(failed)).toContain(`| dbos | Failed in this run: ${why} |`);
    expect(renderChart("loop", failed)).toContain(">dbos</text>");
  });

  test("names repeated and lost effects", () => {
    const effects: Cell = {
      kind: "effects",
      orders: 20,
      effects: 21,
      twice: 2,
      missing: 1,
      asked: 1,
      isStored: false,
    };
    expect(formatShort("kill", effects)).toBe("2 repeated, 1 missing, asked 1×");
    expect(formatLong("kill", effects)).toBe(
      "20 orders, 21 effects: 2 repeated, 1 missing; 1 question to an operator; nothing stored, so it starts over",
    );
    const good: Cell = { ...effects, effects: 20, twice: 0, missing: 0, asked: 0, isStored: true };
    expect(formatLong("kill", good)).toBe("20 orders, 20 effects: each once");
  });

  test("the shop counts effects, honours keys, and kills once", async () => {
    let kills = 0;
    await using shop = await openShop(1, () => (kills += 1));
    const order = (index: number, key?: string): Promise<unknown> =>
      fetch(`${shop.url}/orders/${index}`, {
        method: "POST",
        headers: key === undefined ? {} : { "idempotency-key": key },
      });
    await order(0, "a");
    await order(0, "a");
    await order(0);
    await expect(order(1)).rejects.toThrow();
    await order(1);
    expect([...shop.orders]).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(kills).toBe(1);
    expect((await fetch(`${shop.url}/orders/1`)).status).toBe(200);
    expect((await fetch(`${shop.url}/orders/9`)).status).toBe(404);
    expect(shop.asked()).toBe(2);
  });
});

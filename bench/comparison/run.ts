/** Measures Toolwright and its peers in one run, row by row, so that noise on the machine affects neighbours alike. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, platform, totalmem } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { BenchError } from "../bench-error.ts";
import { inFolder } from "../measure.ts";
import { installPeers } from "../peers.ts";
import { withPostgres } from "../postgres-server.ts";
import { CONTENDERS } from "./contenders.ts";
import { formatShort } from "./format-cell.ts";
import { measureCell, QUICK_SIZES, type Setting, SIZES } from "./measure-cell.ts";
import { type Options, readOptions } from "./options.ts";
import { renderChart } from "./render-chart.ts";
import { renderPage } from "./render-page.ts";
import { renderTable } from "./render-table.ts";
import { type Cell, type Comparison, type Description, type RowId, ROWS } from "./results.ts";

const DOCS = join(import.meta.dirname, "../../docs");

export async function comparePeers(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options.render) {
    writeResults(JSON.parse(readFileSync(join(DOCS, "comparison.json"), "utf8")) as Comparison);
    return;
  }
  const missing = installPeers(() => console.error("installing the peers in bench/peers, once …"));
  if (missing.length > 0)
    throw new BenchError(
      `npm could not install ${missing.join(", ")} in bench/peers. Is the registry reachable?`,
    );
  const results = await inFolder((folder) =>
    withPostgres((address) => measureAll(folder, address, options), { durable: true }),
  );
  console.log(options.json ? JSON.stringify(results, rounded, 2) : renderTable(results));
  if (options.quick || options.only !== undefined) return;
  writeResults(results);
  console.error("wrote docs/comparison.md, docs/comparison.json and docs/images/comparison-*.svg");
}

async function measureAll(folder: string, server: string, options: Options): Promise<Comparison> {
  const ids = options.only ?? Object.keys(CONTENDERS);
  const setting: Setting = {
    folder,
    sizes: options.quick ? QUICK_SIZES : SIZES,
    createDatabase: () => createDatabase(server),
    finishedSteps: new Map(),
  };
  const columns: Record<string, Description> = {};
  const cells = Object.fromEntries(ROWS.map(({ id }) => [id, {}])) as Record<RowId, Record<string, Cell>>;
  for (const { id: row } of ROWS) {
    for (const id of ids) {
      const started = performance.now();
      const { cell, description } = await measureCell(id, row, setting);
      cells[row][id] = cell;
      if (description !== undefined) columns[id] ??= description;
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      console.error(`${row.padEnd(11)} ${id.padEnd(20)} ${formatShort(row, cell).padEnd(28)} ${seconds} s`);
    }
  }
  return {
    format: 1,
    command: "npm run bench -- peers",
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    machine: `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()}, load ${loadavg()[0]?.toFixed(1)} at the end`,
    columns,
    cells,
  };
}

async function createDatabase(server: string): Promise<string> {
  const name = `bench_${randomUUID().replaceAll("-", "")}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const address = new URL(server);
  address.pathname = `/${name}`;
  return address.href;
}

/** Page and charts are made from the numbers as they are stored, so that a test can make them again. */
function writeResults(measured: Comparison): void {
  const text = `${JSON.stringify(measured, rounded, 2)}\n`;
  const results = JSON.parse(text) as Comparison;
  mkdirSync(join(DOCS, "images"), { recursive: true });
  writeFileSync(join(DOCS, "comparison.json"), text);
  writeFileSync(join(DOCS, "comparison.md"), renderPage(results));
  for (const { id } of ROWS)
    writeFileSync(join(DOCS, "images", `comparison-${id}.svg`), renderChart(id, results));
}

function rounded(_name: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 100) / 100 : value;
}

/**
 * The cost of the HTTP API on a store with 100,000 runs: the first page in the handler, and how long a change that another
 * process commits takes to arrive in an event stream. On both stores.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createHandler, type Handler } from "../src/server/index.ts";
import { openStore } from "../src/store/open-store.ts";
import type { Row } from "./bench.ts";
import { inFolder, median } from "./measure.ts";
import { withPostgres } from "./postgres-server.ts";
import { fillRuns } from "./runs.ts";

const TOKEN = "bench";
const TOKENS = [{ name: "bench", token: TOKEN, scopes: ["read"] }] as const;
const CALLER = fileURLToPath(new URL("../test/server/programs/caller.ts", import.meta.url));
const CHANGES = 20;

export async function benchServer(): Promise<Row[]> {
  const sqlite = await inFolder((folder) => measure("SQLite", join(folder, "server.db")));
  return [...sqlite, ...(await withPostgres((address) => measure("PostgreSQL", address)))];
}

async function measure(name: string, address: string): Promise<Row[]> {
  const store = await openStore(address);
  await fillRuns(store);
  await store.close();
  await using handler = createHandler({ store: address, tokens: TOKENS });
  // Opens the store.
  await get(handler, "/healthz");
  const rows: Row[] = [];
  for (const [what, path] of [
    ["first page of 100,000 runs, in the handler", "/runs"],
    ["200 of 100,000 runs, in the handler", "/runs?limit=200"],
    ["a filtered page, in the handler", "/runs?status=failed&kind=workflow"],
    ["one run", "/runs/run-50000"],
    ["its calls", "/runs/run-50000/calls"],
  ] as const)
    rows.push({
      what: `${name}: ${what}`,
      value: await timed(() => get(handler, path)),
      unit: "ms",
      target: 100,
    });
  const delay = await delayOfEvents(handler, address);
  return [
    ...rows,
    { what: `${name}: from a commit elsewhere to the event`, value: delay, unit: "ms", target: 300 },
  ];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  // Other work on the machine only adds time.
  return Math.min(...times);
}

async function get(handler: Handler, path: string): Promise<string> {
  const response = await open(handler, path);
  if (response.status !== 200) throw new Error(await response.text());
  return response.text();
}

function open(handler: Handler, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  return handler(new Request(`http://localhost/api/v1${path}`, { headers }));
}

/** The median over some changes, each made after the event of the one before. */
async function delayOfEvents(handler: Handler, address: string): Promise<number> {
  const stream = (await open(handler, "/events?limit=50")).body
    ?.pipeThrough(new TextDecoderStream())
    .getReader();
  const caller = spawn(process.execPath, [CALLER, address], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const lines = createInterface({ input: caller.stdout })[Symbol.asyncIterator]();
    const delays: number[] = [];
    for (let change = 0; change < CHANGES; change += 1) {
      caller.stdin.write(`change-${change}\n`);
      for (let text = ""; !text.includes(`"change-${change}"`);) text += (await stream?.read())?.value ?? "";
      const arrivedAtMs = Date.now();
      delays.push(arrivedAtMs - Number((await lines.next()).value));
    }
    return median(delays);
  } finally {
    caller.kill();
    await stream?.cancel();
  }
}

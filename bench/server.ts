/**
 * The cost of the HTTP API on a store with 100,000 runs: the first page in the handler, and how long a change that another
 * process commits takes to arrive in an event stream, and on the page of a browser. On both stores. And what the page loads.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { findBrowser } from "../scripts/find-browser.ts";
import { createHandler, type Handler, serve } from "../src/server/index.ts";
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
  return [
    { what: "everything that the page loads, gzipped", value: sizeOfPage(), unit: "bytes", target: 60_000 },
    ...sqlite,
    ...(await withPostgres((address) => measure("PostgreSQL", address))),
  ];
}

function sizeOfPage(): number {
  const folder = new URL("../dist/ui/", import.meta.url);
  return readdirSync(folder).reduce(
    (sum, name) => sum + gzipSync(readFileSync(new URL(name, folder))).length,
    0,
  );
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
  const shown = await delayOnPage(address);
  return [
    ...rows,
    { what: `${name}: from a commit elsewhere to the event`, value: delay, unit: "ms", target: 300 },
    { what: `${name}: from a commit elsewhere to the page`, value: shown, unit: "ms", target: 300 },
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

async function delayOfEvents(handler: Handler, address: string): Promise<number> {
  const stream = (await open(handler, "/events?limit=50")).body
    ?.pipeThrough(new TextDecoderStream())
    .getReader();
  try {
    return await medianDelay(address, "event", async (runId) => {
      for (let text = ""; !text.includes(`"${runId}"`);) text += (await stream?.read())?.value ?? "";
      return Date.now();
    });
  } finally {
    await stream?.cancel();
  }
}

/** In Chromium: until the document has the link of the run. */
async function delayOnPage(address: string): Promise<number> {
  await using server = await serve({ store: address, port: 0 });
  const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.goto(server.signInUrl);
    await page.getByText("Live", { exact: true }).waitFor();
    return await medianDelay(address, "page", (runId) => page.evaluate<number>(untilShown(runId)));
  } finally {
    await browser.close();
  }
}

/** A script, because this program has no types of a document. */
function untilShown(runId: string): string {
  return `new Promise((resolve) => {
    const look = () => {
      if (!document.body.textContent.includes(${JSON.stringify(runId)})) return;
      observer.disconnect();
      resolve(Date.now());
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    look();
  })`;
}

/**
 * The median over several changes, each made after the previous one was seen.
 * @param seen resolves with the time when the run is seen
 */
async function medianDelay(
  address: string,
  prefix: string,
  seen: (runId: string) => Promise<number>,
): Promise<number> {
  const caller = spawn(process.execPath, [CALLER, address], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const lines = createInterface({ input: caller.stdout })[Symbol.asyncIterator]();
    const delays: number[] = [];
    for (let change = 0; change < CHANGES; change += 1) {
      const arrival = seen(`${prefix}-${change}-`);
      caller.stdin.write(`${prefix}-${change}-\n`);
      const arrivedAtMs = await arrival;
      delays.push(arrivedAtMs - Number((await lines.next()).value));
    }
    return median(delays);
  } finally {
    caller.kill();
  }
}

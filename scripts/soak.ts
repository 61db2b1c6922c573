/**
 * Runs Toolwright for any number of minutes while everything around it fails: `npm run soak -- --minutes 10 --seed 7`.
 * Exits with 0 if every call is accounted for, with 1 if not, and with 2 for a wrong option. See docs/internals/soak.md.
 */
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { atExit, exitCodeOf, exitOnSignals } from "../test/at-exit.ts";
import { prepareCompileCache } from "../test/quick-start.ts";
import { preparePublicRoot } from "../test/public-root.ts";
import { buildPrograms } from "../test/soak/build-programs.ts";
import type { StoreName } from "../test/soak/plan.ts";
import { readRecord, toRecord, totalOf } from "../test/soak/record.ts";
import { LARGE, runSoak, type SoakResult } from "../test/soak/soak.ts";
import type { Tally } from "../test/soak/tally.ts";

/** Three weeks. A timer of Node that is longer than 24 days ends at once. */
const MOST_MINUTES = 30_000;

const USAGE = `npm run soak -- [options]
  --minutes N   how long faults happen (default 1; parts such as 0.5 are allowed)
  --kills N     end the faults after this many kills
  --record FILE add the result to this file; with --kills, one soak follows another until the file holds so many kills
  --seed S      the plan of faults and jobs (default: a new one)
  --store NAME  sqlite, postgres or both (default both)
  --json        print the result as JSON`;

interface Options {
  readonly minutes: number;
  readonly kills: number | undefined;
  readonly record: string | undefined;
  readonly seed: number;
  readonly stores: readonly StoreName[];
  readonly json: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      kills: { type: "string" },
      record: { type: "string" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      store: { type: "string", default: "both" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= MOST_MINUTES))
    throw new Error(`--minutes must be a number above 0, up to ${MOST_MINUTES}, not "${values.minutes}"`);
  if (values.record !== undefined) checkRecord(values.record);
  const stores = { sqlite: ["sqlite"], postgres: ["postgres"], both: ["sqlite", "postgres"] } as const;
  if (!Object.hasOwn(stores, values.store))
    throw new Error(`--store must be "sqlite", "postgres" or "both", not "${values.store}"`);
  return {
    minutes,
    kills: values.kills === undefined ? undefined : whole("--kills", values.kills, 1),
    record: values.record,
    seed: whole("--seed", values.seed, 0),
    stores: stores[values.store as keyof typeof stores],
    json: values.json,
  };
}

/** Before the soak, which may take hours. */
function checkRecord(file: string): void {
  try {
    readRecord(file);
    appendFileSync(file, "");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`--record must be a file of results that can be written, not "${file}": ${reason}`, {
      cause: error,
    });
  }
}

function whole(option: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least && text.trim() !== "") return value;
  throw new Error(`${option} must be a whole number of at least ${least}, not "${text}"`);
}

function progressLine({ counts, seconds, kills, faults }: Tally): string {
  const count = (name: string): number => counts[name] ?? 0;
  const connections =
    count("terminate") + count("cut-all") + count("cut-before-commit") + count("cut-after-commit");
  return [
    `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`,
    `${kills} kills`,
    `${count("stops")} stops`,
    `${count("restart")} restarts`,
    `${connections} cuts`,
    `${count("full-disk")} full disks`,
    `${count("orders")} orders`,
    `${count("jobs done")} of ${count("jobs")} jobs done`,
    ...(faults.length > 0 ? [`${faults.length} FAULTS`] : []),
  ].join("  ");
}

function createProgress(): (tally: Tally) => void {
  const isTerminal = process.stderr.isTTY;
  let ticks = 0;
  return (tally) => {
    if (isTerminal) process.stderr.write(`\r\u001B[K${progressLine(tally)}`);
    else if ((ticks += 1) % 10 === 0) process.stderr.write(`${progressLine(tally)}\n`);
  };
}

function printResult(result: SoakResult, { minutes, stores }: Options): void {
  console.log(`\nseed ${result.seed}, ${result.stores.join(" and ")}, ${result.seconds} s`);
  for (const [name, count] of Object.entries(result.counts).toSorted(([one], [other]) =>
    one.localeCompare(other),
  ))
    console.log(`  ${name.padEnd(20)} ${count}`);
  console.log(`  kills per minute     ${result.killsPerMinute}`);
  if (result.faults.length === 0) {
    console.log("every call is accounted for: none twice, none lost, nothing stuck, every approval answered");
    return;
  }
  for (const { kind, store, about, message, evidence } of result.faults) {
    console.log(`\nFAULT ${kind} on ${store}: ${about}: ${message}`);
    if (evidence !== undefined) console.log(JSON.stringify(evidence, null, 2));
  }
  const store = stores.length === 2 ? "both" : stores[0];
  console.log(
    `\n${result.faults.length} faults. The same plan again: npm run soak -- --seed ${result.seed} --minutes ${minutes} --store ${store}`,
  );
}

let options: Options;
try {
  options = readOptions();
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
const stop = new AbortController();
process.on("SIGINT", () => {
  // A second one ends the soak immediately.
  if (stop.signal.aborted) process.exit(exitCodeOf("SIGINT"));
  process.stderr.write("\nThe faults end, and the audit follows. Press Ctrl-C again to end without it.\n");
  stop.abort();
});
exitOnSignals("SIGTERM", "SIGHUP");
const root = preparePublicRoot();
atExit(() => root.remove());
const compiled = prepareCompileCache();
atExit(() => compiled.remove());
const programs = buildPrograms();
atExit(() => programs.remove());

async function soakOnce(seed: number, mostKills: number | undefined): Promise<SoakResult> {
  const { stores, minutes, json } = options;
  process.stderr.write(`soak with seed ${seed} on ${stores.join(" and ")} for ${minutes} minutes\n`);
  const result = await runSoak({
    seed,
    faultMs: minutes * 60_000,
    mostKills,
    stores,
    scale: LARGE,
    programs,
    publicRoot: root.path,
    onProgress: createProgress(),
    endFaults: stop.signal,
  });
  // With --record there may be several results: one line each.
  if (json) console.log(JSON.stringify(result, null, options.record === undefined ? 2 : undefined));
  else printResult(result, options);
  return result;
}

/** One soak after the other, each with the next seed, until the file holds enough kills or one of them finds a fault. */
async function soakAndRecord(file: string): Promise<SoakResult> {
  const { kills = 0, minutes } = options;
  for (let { seed } = options; ; seed += 1) {
    const left = kills - totalOf(readRecord(file)).kills;
    const result = await soakOnce(seed, left > 0 ? left : undefined);
    appendFileSync(file, `${JSON.stringify(toRecord(result, minutes, new Date()))}\n`);
    const total = totalOf(readRecord(file));
    const print = options.json ? console.error : console.log;
    print(
      `${file}: ${total.kills} kills in ${total.soaks} soaks, ${Math.round(total.seconds / 60)} minutes, ${total.faults} faults`,
    );
    if (result.faults.length > 0 || total.kills >= kills || stop.signal.aborted) return result;
  }
}

const { record } = options;
const { faults } =
  record === undefined ? await soakOnce(options.seed, options.kills) : await soakAndRecord(record);
process.exitCode = faults.length === 0 ? 0 : 1;

/**
 * Runs Toolwright for as long as one likes while everything around it fails: `npm run soak -- --minutes 10 --seed 7`.
 * Exits with 0 if every call is accounted for, with 1 if not, and with 2 for a wrong option. See docs/internals/soak.md.
 */
import { parseArgs } from "node:util";
import { prepareCompileCache } from "../test/compile-cache.ts";
import { preparePublicRoot } from "../test/public-root.ts";
import type { StoreName } from "../test/soak/plan.ts";
import { LARGE, runSoak, type SoakResult } from "../test/soak/soak.ts";
import type { Tally } from "../test/soak/tally.ts";

const USAGE = `npm run soak -- [options]
  --minutes N   how long faults happen (default 1; parts such as 0.5 are allowed)
  --kills N     end the faults after this many kills
  --seed S      the plan of faults and jobs (default: a new one)
  --store NAME  sqlite, postgres or both (default both)
  --json        print the result as JSON`;

interface Options {
  readonly minutes: number;
  readonly kills: number | undefined;
  readonly seed: number;
  readonly stores: readonly StoreName[];
  readonly json: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      kills: { type: "string" },
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
  if (!(minutes > 0 && minutes < 100_000))
    throw new Error(`--minutes must be a number above 0, and is "${values.minutes}"`);
  const stores = { sqlite: ["sqlite"], postgres: ["postgres"], both: ["sqlite", "postgres"] } as const;
  if (!Object.hasOwn(stores, values.store))
    throw new Error(`--store must be "sqlite", "postgres" or "both", and is "${values.store}"`);
  return {
    minutes,
    kills: values.kills === undefined ? undefined : whole("--kills", values.kills, 1),
    seed: whole("--seed", values.seed, 0),
    stores: stores[values.store as keyof typeof stores],
    json: values.json,
  };
}

function whole(option: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least && text.trim() !== "") return value;
  throw new Error(`${option} must be a whole number from ${least}, and is "${text}"`);
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
const root = preparePublicRoot();
const compiled = prepareCompileCache();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort(new Error("interrupted")));
try {
  process.stderr.write(
    `soak with seed ${options.seed} on ${options.stores.join(" and ")} for ${options.minutes} minutes\n`,
  );
  const result = await runSoak({
    seed: options.seed,
    faultMs: options.minutes * 60_000,
    mostKills: options.kills,
    stores: options.stores,
    scale: LARGE,
    publicRoot: root.path,
    onProgress: createProgress(),
    signal: stop.signal,
  });
  if (options.json) console.log(JSON.stringify(result, null, 2));
  else printResult(result, options);
  process.exitCode = result.faults.length === 0 ? 0 : 1;
} finally {
  compiled.remove();
  root.remove();
}

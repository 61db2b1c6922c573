/**
 * Prints numbers and never asserts: `npm run bench` prints a table and, last, one line of JSON. Ratios compare rows
 * of one run; absolute times say more about the machine. `npm run bench -- growth` runs one section, and
 * `npm run bench -- peers` compares with other systems.
 */
import { exitOnSignals } from "../test/at-exit.ts";
import { BenchError } from "./bench-error.ts";
import { comparePeers } from "./comparison/run.ts";
import { benchBack } from "./back.ts";
import { benchAiSdk, benchPerCall } from "./per-call.ts";
import { benchFork } from "./fork.ts";
import { benchGrowth } from "./growth.ts";
import { benchImport } from "./import-time.ts";
import { benchOtel } from "./otel.ts";
import { benchPostgres } from "./postgres.ts";
import { benchPs } from "./ps.ts";
import { benchRuns } from "./runs.ts";
import { benchReplay } from "./replay.ts";
import { benchSandbox } from "./sandbox.ts";
import { benchServer } from "./server.ts";
import { benchSmartAgent } from "./smart-agent.ts";
import { benchWorker } from "./worker.ts";
import { benchStream } from "./stream.ts";
import { benchWorkflow } from "./workflow.ts";

export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: "µs" | "ms" | "MB" | "bytes" | "per s";
  /** Ratio to the base of its section. */
  readonly ratio?: number;
  /** The limit for the ratio, or for the value if there is no ratio. */
  readonly target?: number;
}

const sections: Readonly<Record<string, () => Promise<Row[]>>> = {
  "per-call": benchPerCall,
  "ai-sdk": benchAiSdk,
  otel: benchOtel,
  replay: benchReplay,
  back: async () => [...(await benchBack()), ...(await benchFork())],
  growth: benchGrowth,
  "smart-agent": benchSmartAgent,
  stream: benchStream,
  postgres: benchPostgres,
  sandbox: benchSandbox,
  workflow: benchWorkflow,
  ps: benchPs,
  runs: benchRuns,
  server: benchServer,
  worker: benchWorker,
  import: benchImport,
};

function refuse(error: unknown): never {
  console.error(error instanceof BenchError ? error.message : error);
  process.exit(1);
}

// Folders are then removed.
exitOnSignals("SIGINT", "SIGTERM", "SIGHUP");

if (process.argv[2] === "peers") {
  await comparePeers(process.argv.slice(3)).catch(refuse);
  process.exit();
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in sections));
if (unknown.length > 0)
  refuse(
    new BenchError(`unknown: ${unknown.join(", ")}. Known are: ${Object.keys(sections).join(", ")}, peers.`),
  );
const results: Record<string, Row[]> = {};
for (const [name, bench] of Object.entries(sections)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const rows = await bench();
  results[name] = rows;
  console.log(`\n${name}`);
  for (const { what, value, unit, ratio, target } of rows) {
    const shownRatio = ratio === undefined ? "" : `${ratio.toFixed(2)}x`;
    const measured = ratio ?? value;
    const verdict =
      target === undefined
        ? ""
        : `target ${target}${ratio === undefined ? "" : "x"} ${measured <= target ? "met" : "MISSED"}`;
    console.log(
      `  ${what.padEnd(44)} ${value.toFixed(1).padStart(9)} ${unit.padEnd(6)} ${shownRatio.padStart(8)}  ${verdict}`,
    );
  }
}
console.log(`\n${JSON.stringify(results)}`);

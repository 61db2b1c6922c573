/** The cost of listing a store that holds many runs, without the start of the command itself. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { createSmithers, runWorkflow } from "toolwright";
import { jsx } from "toolwright/jsx-runtime";
import { z } from "zod";
import type { Row } from "./bench.ts";
import { inFolder } from "./measure.ts";

const COMMAND = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const RUNS = 10_000;

export function benchPs(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const store = join(folder, "many.db");
    await createRuns(store);
    const startMs = fastest(["--version"]);
    const psMs = fastest(["ps", "--store", store]);
    return [
      { what: "toolwright --version", value: startMs, unit: "ms" },
      { what: "toolwright ps with 10,000 runs, beyond that", value: psMs - startMs, unit: "ms", target: 200 },
    ];
  });
}

/** One real run, and many copies of its rows. */
async function createRuns(store: string): Promise<void> {
  const { Workflow, Task, smithers, outputs } = createSmithers({ n: z.number() }, { dbPath: store });
  const workflow = smithers(() =>
    jsx(Workflow, { name: "one", children: jsx(Task, { id: "t", output: outputs.n, children: 1 }) }),
  );
  await runWorkflow(workflow, { runId: "run" });
  const database = new DatabaseSync(store);
  for (const table of ["toolwright_workflow_runs", "toolwright_tasks"]) {
    const columns = database
      .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE name <> 'run_id'`)
      .all()
      .map(({ name }) => String(name))
      .join(", ");
    database.exec(`WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${RUNS})
      INSERT INTO ${table} (run_id, ${columns}) SELECT 'run-' || n, ${columns} FROM ${table}, numbers WHERE run_id = 'run'`);
  }
  database.close();
}

function fastest(args: readonly string[]): number {
  const times = Array.from({ length: 7 }, () => {
    const started = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return performance.now() - started;
  });
  return Math.min(...times);
}

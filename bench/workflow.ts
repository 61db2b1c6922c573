/** The cost of a task: against the bare journal, as the number of tasks grows, and when its result is replayed. */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSmithers, runWorkflow } from "toolwright";
import { jsx } from "toolwright/jsx-runtime";
import { z } from "zod";
import { openBareJournal, openLeanJournal } from "./bare-journal.ts";
import type { Row } from "./bench.ts";
import { compare, inFolder } from "./measure.ts";

export function manyTasks(count: number, group: "sequence" | "parallel", dbPath: string) {
  const { Workflow, Task, Sequence, Parallel, smithers, outputs } = createSmithers(
    { n: z.number() },
    { dbPath },
  );
  const tasks = Array.from({ length: count }, (_, n) =>
    jsx(Task, { id: `t${n}`, output: outputs.n, children: () => n }),
  );
  return smithers(() =>
    jsx(Workflow, {
      name: "many",
      children: jsx(group === "sequence" ? Sequence : Parallel, { children: tasks }),
    }),
  );
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Milliseconds for 1,000 steps in each journal, and for 1,000 tasks. Each round has its own file, and the first ones are warm-up. */
async function timeThousands(folder: string): Promise<{ bare: number; lean: number; tasks: number }> {
  const inJournal = (name: string, open: typeof openBareJournal) => ({
    name,
    round: (from: number) => {
      const journal = open(join(folder, `${name}-${from}.db`), false);
      for (let index = 0; index < 1_000; index += 1) journal.call({ index }, () => index);
      journal.close();
    },
  });
  const times = await compare(
    [
      inJournal("bare", openBareJournal),
      inJournal("lean", openLeanJournal),
      {
        name: "tasks",
        round: async (from) => {
          await runWorkflow(manyTasks(1_000, "sequence", join(folder, `tasks-${from}.db`)));
        },
      },
    ],
    { rounds: 12, count: 1_000 },
  );
  // Microseconds for one are milliseconds for 1,000.
  const ms = (name: string): number => times.get(name) ?? Number.NaN;
  return { bare: ms("bare"), lean: ms("lean"), tasks: ms("tasks") };
}

/** The peak memory of a process that runs this many tasks. */
function memoryOf(count: number, folder: string): number {
  const program = fileURLToPath(new URL("./workflow-memory.ts", import.meta.url));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, String(count), join(folder, `memory-${count}.db`)],
    { encoding: "utf8" },
  );
  if (stdout === "") throw new Error(stderr);
  return Number(stdout);
}

export function benchWorkflow(): Promise<Row[]> {
  return inFolder(async (folder) => {
    const { bare, lean, tasks } = await timeThousands(folder);
    const one = join(folder, "one.db");
    const ten = join(folder, "ten.db");
    const oneMs = await timeOf(() => runWorkflow(manyTasks(1_000, "sequence", one), { runId: "r" }));
    const tenMs = await timeOf(() => runWorkflow(manyTasks(10_000, "sequence", ten), { runId: "r" }));
    const resumeMs = await timeOf(() =>
      runWorkflow(manyTasks(1_000, "sequence", one), { runId: "r", resume: true }),
    );
    const parallelMs = await timeOf(() =>
      runWorkflow(manyTasks(1_000, "parallel", join(folder, "parallel.db")), { maxConcurrency: 50 }),
    );
    const oneMemory = memoryOf(1_000, folder);
    const tenMemory = memoryOf(10_000, folder);
    const [oneBytes, tenBytes] = [statSync(one).size, statSync(ten).size];
    return [
      { what: "bare journal, 1,000 steps", value: bare, unit: "ms", ratio: 1 },
      { what: "1,000 tasks in a sequence", value: tasks, unit: "ms", ratio: tasks / bare, target: 3 },
      { what: "lean journal, 1,000 steps", value: lean, unit: "ms", ratio: 1 },
      {
        what: "1,000 tasks in a sequence, against the lean journal",
        value: tasks,
        unit: "ms",
        ratio: tasks / lean,
        target: 4,
      },
      { what: "10,000 tasks, against 1,000", value: tenMs, unit: "ms", ratio: tenMs / oneMs, target: 12 },
      {
        what: "file of 10,000 tasks, against 1,000",
        value: tenBytes / 1_048_576,
        unit: "MB",
        ratio: tenBytes / oneBytes,
        target: 12,
      },
      {
        what: "process of 10,000 tasks, against 1,000",
        value: tenMemory / 1_048_576,
        unit: "MB",
        ratio: tenMemory / oneMemory,
        target: 12,
      },
      { what: "1,000 tasks in a parallel group", value: parallelMs, unit: "ms", ratio: parallelMs / bare },
      { what: "resume of 1,000 finished tasks", value: resumeMs, unit: "ms", target: 50 },
    ];
  });
}

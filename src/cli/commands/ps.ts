/** `toolwright ps`: lists the runs of a store, newest first. */
import { type Command, Option } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { nextCommand } from "../command-name.ts";
import type { ListedRun } from "../../operate/list-runs.ts";
import { parseLabels } from "../parse-labels.ts";
import { wholeNumber } from "../parse-options.ts";
import { type Column, fitTable, outputWidth } from "../../terminal/fitted-table.ts";
import {
  MOST_RUNS,
  RUN_KINDS,
  type RunKind,
  type ShownStatus,
  shownStatus,
} from "../../operate/run-status.ts";
import { type CommonOptions, STATUS_COLOURS } from "../screen.ts";
import { withoutPassword } from "../../operate/store-address.ts";
import { toAge, toDuration } from "../../terminal/readable.ts";
import { toTerminalName } from "../../terminal/terminal-text.ts";

interface PsOptions extends CommonOptions {
  readonly limit: number;
  readonly status?: ShownStatus;
  readonly kind?: RunKind;
  readonly label?: string;
  readonly before?: string;
}

const DEFAULT_LIMIT = 20;
const STATUSES = Object.keys(STATUS_COLOURS);

const COLUMNS: readonly Column[] = [
  { title: "RUN" },
  { title: "KIND", drop: 5 },
  { title: "NAME", least: 8 },
  { title: "STATUS" },
  { title: "TASKS", least: 6, drop: 4 },
  { title: "AT", least: 6, drop: 2 },
  { title: "STARTED", drop: 3 },
  { title: "TOOK", drop: 1 },
];

export function addPsCommand(program: Command): void {
  const command = program
    .command("ps")
    .summary("list runs, newest first")
    .description("Lists runs of every kind, newest first, with the progress of their tasks.")
    .option(
      "--limit <runs>",
      `the maximum number to list, up to ${MOST_RUNS}`,
      wholeNumber(1, MOST_RUNS),
      DEFAULT_LIMIT,
    )
    .addOption(new Option("--status <status>", "only those with this status").choices(STATUSES))
    .addOption(new Option("--kind <kind>", "only runs of this kind").choices(RUN_KINDS))
    .option("--label <key=value>", "only those with this label")
    .option("--before <run-id>", "continue the list after this run");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        "toolwright ps",
        "toolwright ps --status waiting-approval --json",
        "toolwright ps --kind agent --label customer=acme",
        "toolwright ps --status interrupted   # their process has died",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<PsOptions>) => {
        const { assertRunExists, isNotCreatedYet } = await import("../open.ts");
        const isNew = isNotCreatedYet(options.store, screen);
        const { withStore } = await import("../../operate/find-run.ts");
        const { listRunsWithProgress } = await import("../../operate/list-runs.ts");
        const { status, kind, label, before, limit } = options;
        if (label !== undefined) parseLabels([label]);
        const { runs, next } = isNew
          ? { runs: [], next: null }
          : await withStore(options.store, async (store) => {
              if (before !== undefined) await assertRunExists(store, options.store, before);
              return listRunsWithProgress(store, {
                status,
                // The table shows interrupted runs with a separate status.
                interrupted: status === "running" ? false : undefined,
                kind,
                label,
                before,
                limit: Math.min(limit, 200),
              });
            });
        screen.printJson(runs);
        if (runs.length === 0) {
          const isFiltered = [kind, label, before].some((value) => value !== undefined);
          screen.print(
            isNew
              ? `There is no store ${withoutPassword(options.store)}. The first run creates it: ${nextCommand(options.store, "up", "workflow.tsx")}`
              : isFiltered
                ? "There are no such runs."
                : status === undefined
                  ? "There are no runs."
                  : `There are no runs with the status ${status}.`,
          );
          return EXIT.finished;
        }
        const rows = runs.map((run) => {
          const took = run.finishedAtMs === null ? "" : toDuration(run.finishedAtMs - run.createdAtMs);
          return [
            run.runId,
            run.kind,
            run.name,
            shownStatus(run),
            progressOf(run),
            run.currentTask ?? "",
            toAge(run.createdAtMs),
            took,
          ];
        });
        const table = fitTable(COLUMNS, rows, outputWidth());
        screen.printText(screen.paint("bold", table.head));
        for (const [index, line] of table.rows.entries()) {
          const run = runs[index];
          const status = run === undefined ? "running" : shownStatus(run);
          screen.printText(line.replace(`  ${status}`, `  ${screen.paint(STATUS_COLOURS[status], status)}`));
        }
        for (const { runId, leftByWorkers } of runs)
          if (leftByWorkers !== null) screen.print(`${toTerminalName(runId)}: ${leftByWorkers}`);
        const last = runs.at(-1);
        if (next !== null && last !== undefined) screen.print(`More: ${moreCommand(options, last.runId)}`);
        return EXIT.finished;
      }),
    );
}

function progressOf({ kind, calls, taskCounts }: ListedRun): string {
  if (kind !== "workflow" || taskCounts === null) return calls === 1 ? "1 call" : `${calls} calls`;
  const { finished, skipped, failed, running, waiting } = taskCounts;
  return [
    `${finished + skipped} done`,
    ...(running === 0 ? [] : [`${running} running`]),
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join(", ");
}

function moreCommand({ store, status, kind, label, limit }: PsOptions, before: string): string {
  return nextCommand(
    store,
    "ps",
    ...(status === undefined ? [] : [["--status", status] as const]),
    ...(kind === undefined ? [] : [["--kind", kind] as const]),
    ...(label === undefined ? [] : [["--label", label] as const]),
    ...(limit === DEFAULT_LIMIT ? [] : [["--limit", String(limit)] as const]),
    ["--before", before],
  );
}

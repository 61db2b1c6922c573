/** `toolwright ps`: lists the runs of a store, newest first. */
import { type Command, Option } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { nextCommand } from "../command-name.ts";
import { wholeNumber } from "../parse-options.ts";
import { type Column, fitTable, outputWidth } from "../../terminal/fitted-table.ts";
import { type ShownStatus, shownStatus } from "../../operate/run-status.ts";
import { type CommonOptions, STATUS_COLOURS } from "../screen.ts";
import { withoutPassword } from "../../operate/store-address.ts";
import { toAge, toDuration } from "../../terminal/readable.ts";

interface PsOptions extends CommonOptions {
  readonly limit: number;
  readonly status?: ShownStatus;
}

const STATUSES = Object.keys(STATUS_COLOURS);

const COLUMNS: readonly Column[] = [
  { title: "RUN" },
  { title: "WORKFLOW", least: 8 },
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
    .description("Lists runs, newest first, with the progress of their tasks.")
    .option("--limit <runs>", "how many at most", wholeNumber(1), 20)
    .addOption(new Option("--status <status>", "only those with this status").choices(STATUSES));
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        "toolwright ps",
        "toolwright ps --status waiting-approval --json",
        "toolwright ps --status interrupted   # their process has died",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<PsOptions>) => {
        const { isNotCreatedYet } = await import("../open.ts");
        const isNew = isNotCreatedYet(options.store, screen);
        const { withStore } = await import("../../operate/find-run.ts");
        const { listRuns } = await import("../../operate/list-runs.ts");
        const runs = isNew
          ? []
          : await withStore(options.store, (store) => listRuns(store, options.status, options.limit));
        screen.printJson(runs);
        if (runs.length === 0) {
          screen.print(
            isNew
              ? `There is no store ${withoutPassword(options.store)}. The first run creates it: ${nextCommand(options.store, "up", "workflow.tsx")}`
              : options.status === undefined
                ? "There are no runs."
                : `There are no runs with the status ${options.status}.`,
          );
          return EXIT.finished;
        }
        const rows = runs.map((run) => {
          const { finished, skipped, failed, running, waiting } = run.tasks;
          const counts = [
            `${finished + skipped} done`,
            ...(running === 0 ? [] : [`${running} running`]),
            ...(waiting === 0 ? [] : [`${waiting} waiting`]),
            ...(failed === 0 ? [] : [`${failed} failed`]),
          ];
          const took = run.finishedAtMs === null ? "" : toDuration(run.finishedAtMs - run.createdAtMs);
          return [
            run.runId,
            run.workflow,
            shownStatus(run),
            counts.join(", "),
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
        return EXIT.finished;
      }),
    );
}

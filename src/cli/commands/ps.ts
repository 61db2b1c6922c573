/** `toolwright ps`: the runs of a store, newest first. */
import { type Command, Option } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { wholeNumber } from "../parse-options.ts";
import { toTable } from "../../util/table.ts";
import { type CommonOptions, toAge, toDuration } from "../screen.ts";

interface PsOptions extends CommonOptions {
  readonly limit: number;
  readonly status?: "running" | "finished" | "failed" | "cancelled" | "waiting-approval";
}

const STATUSES = ["running", "finished", "failed", "cancelled", "waiting-approval"];

export function addPsCommand(program: Command): void {
  const command = program
    .command("ps")
    .summary("list runs, newest first")
    .description("Lists runs, newest first, with how far their tasks are.")
    .option("--limit <runs>", "how many at most", wholeNumber(1), 20)
    .addOption(new Option("--status <status>", "only those that stand so").choices(STATUSES));
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright ps", "toolwright ps --status waiting-approval --json"))
    .action(
      acting(async ({ screen, options }: Acting<PsOptions>) => {
        const { storeExists, withStore } = await import("../open.ts");
        const { describeOverview, statusOf, STATUS_COLOURS } = await import("../describe-run.ts");
        const { listRuns } = await import("../../store/workflow-queries.ts");
        const runs = !storeExists(options.store)
          ? []
          : await withStore(options.store, async (store) => {
              const found = await store.read(() => listRuns(options));
              return Promise.all(found.map((run) => describeOverview(store, run)));
            });
        screen.tell(runs);
        if (runs.length === 0) {
          screen.say(
            storeExists(options.store) ? "There are no runs." : `There is no store ${options.store}.`,
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
            statusOf(run),
            counts.join(", "),
            run.currentTask ?? "",
            toAge(run.createdAtMs),
            took,
          ];
        });
        const [head = "", ...lines] = toTable(
          ["RUN", "WORKFLOW", "STATUS", "TASKS", "AT", "STARTED", "TOOK"],
          rows,
        ).split("\n");
        screen.say(screen.paint("bold", head));
        for (const [index, line] of lines.entries()) {
          const run = runs[index];
          const status = run === undefined ? "running" : statusOf(run);
          screen.say(line.replace(`  ${status} `, `  ${screen.paint(STATUS_COLOURS[status], status)} `));
        }
        return EXIT.finished;
      }),
    );
}

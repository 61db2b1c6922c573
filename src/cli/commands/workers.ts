/** `toolwright workers`: lists the workers of a store. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { nextCommand } from "../command-name.ts";
import { type Column, fitTable, outputWidth } from "../../terminal/fitted-table.ts";
import { toAge } from "../../terminal/readable.ts";
import type { CommonOptions } from "../screen.ts";

const COLUMNS: readonly Column[] = [
  { title: "WORKER" },
  { title: "STATUS" },
  { title: "RUNS" },
  { title: "BUILD", least: 6, drop: 2 },
  { title: "SERVES", least: 8, drop: 3 },
  { title: "STARTED", drop: 1 },
  { title: "SEEN", drop: 4 },
];

export function addWorkersCommand(program: Command): void {
  const command = program
    .command("workers")
    .summary("list workers")
    .description("Lists the workers of a store, what they serve, and how many runs they are driving.");
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright workers", "toolwright workers --json"))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>) => {
        const { isNotCreatedYet } = await import("../open.ts");
        const { withStore } = await import("../../operate/find-run.ts");
        const { listWorkers } = await import("../../operate/list-workers.ts");
        const workers = isNotCreatedYet(options.store, screen)
          ? []
          : await withStore(options.store, listWorkers);
        screen.printJson(workers);
        if (workers.length === 0) {
          screen.print(`There are no workers. Start one: ${nextCommand(options.store, "worker")}`);
          return EXIT.finished;
        }
        const rows = workers.map((worker) => [
          worker.name,
          worker.status,
          `${worker.runs} of ${worker.concurrency}`,
          worker.build ?? "",
          worker.serves.map(({ name }) => name).join(", "),
          toAge(worker.startedAtMs),
          toAge(worker.seenAtMs),
        ]);
        const table = fitTable(COLUMNS, rows, outputWidth());
        screen.printText(screen.paint("bold", table.head));
        for (const line of table.rows) screen.printText(line);
        return EXIT.finished;
      }),
    );
}

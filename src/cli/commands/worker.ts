/** `toolwright worker`: takes runs of a store that are ready, and drives them. */
import type { Command } from "commander";
import { type Acting, acting, examples, withCommonOptions } from "../command.ts";
import { wholeNumber } from "../parse-options.ts";
import type { CommonOptions } from "../screen.ts";

export interface WorkerCommandOptions extends CommonOptions {
  readonly concurrency?: number;
  readonly leaseMs?: number;
  readonly drainMs?: number;
  readonly build?: string;
  readonly label?: readonly string[];
  readonly sharedRoot?: boolean;
  readonly once?: boolean;
  readonly healthPort?: number;
}

export function addWorkerCommand(program: Command): void {
  const command = program
    .command("worker")
    .summary("run workflows, agents and programs that are ready")
    .description(
      "Takes ready runs and drives them: enqueued runs, interrupted runs, and runs whose approval was decided. It runs the workflows in toolwright.config by name.",
    )
    .option("--concurrency <runs>", "how many runs at the same time (default: 4)", wholeNumber(1))
    .option(
      "--lease-ms <ms>",
      "how long the worker may be silent before others take over its runs (default: 10000)",
      wholeNumber(2_000),
    )
    .option(
      "--drain-ms <ms>",
      "how long calls may take after SIGTERM (default: 30000)",
      wholeNumber(0, 86_400_000),
    )
    .option("--build <id>", "the version of the code, such as a commit")
    .option("--label <key=value...>", "labels, shown in lists of workers")
    .option("--shared-root", "every worker has the same root folder, so runs that used files may move")
    .option("--once", "run everything that is ready, then exit")
    .option(
      "--health-port <port>",
      "answer GET /healthz and /readyz on this port; 0 takes a free one",
      wholeNumber(0, 65_535),
    );
  withCommonOptions(command)
    .addHelpText(
      "after",
      `${examples(
        "toolwright worker",
        "toolwright worker --concurrency 8 --build $GIT_COMMIT",
        "toolwright worker --once   # in a cron job",
      )}

SIGTERM and SIGINT drain the worker: it takes no more runs, and gives its runs
back between two calls. A second signal exits immediately.`,
    )
    .action(
      acting(async ({ screen, options }: Acting<WorkerCommandOptions>) => {
        const { runWorker } = await import("../run-worker.ts");
        return runWorker(screen, options);
      }),
    );
}

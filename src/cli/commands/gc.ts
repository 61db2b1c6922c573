/** `toolwright gc`: deletes old runs. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { timeSpan } from "../parse-options.ts";
import type { CommonOptions } from "../screen.ts";

interface GcCommandOptions extends CommonOptions {
  readonly olderThan?: number;
  readonly replayOlderThan?: number;
  readonly dryRun?: boolean;
}

export function addGcCommand(program: Command): void {
  const command = program
    .command("gc")
    .summary("delete runs that ended long ago")
    .description(
      "Deletes runs that ended long ago, with their calls. It never deletes runs that are running or wait for approval. " +
        "The ids and business keys of deleted runs stay reserved.",
    )
    .option("--older-than <time>", "delete runs that ended longer ago than this (default: 30d)", timeSpan)
    .option(
      "--replay-older-than <time>",
      "delete the resume data of failed, stopped or interrupted runs, such as model responses (default: 7d)",
      timeSpan,
    )
    .option("--dry-run", "only count; delete nothing");
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright gc --dry-run", "toolwright gc --older-than 90d"))
    .action(
      acting(async ({ screen, options }: Acting<GcCommandOptions>) => {
        const { assertStoreExists } = await import("../open.ts");
        const { createRuntime } = await import("../../runtime/create-runtime.ts");
        const { store, olderThan, replayOlderThan, dryRun } = options;
        assertStoreExists(store);
        await using runtime = createRuntime({ store });
        const report = await runtime.gc({
          olderThanMs: olderThan,
          replayOlderThanMs: replayOlderThan,
          dryRun,
        });
        screen.printJson({ dryRun: dryRun === true, ...report });
        const { deletedRuns, deletedCalls, clearedRuns, expiredCacheEntries, pastOwners } = report;
        const verb = dryRun === true ? "Would delete" : "Deleted";
        screen.print(`${verb} ${count(deletedRuns, "run")} with ${count(deletedCalls, "call")}.`);
        if (clearedRuns > 0)
          screen.print(
            `${verb} the model responses of ${count(clearedRuns, "run")} that failed, were stopped or were interrupted; a resume starts a new attempt.`,
          );
        if (expiredCacheEntries + pastOwners > 0)
          screen.print(
            `${verb} ${count(expiredCacheEntries, "expired cache entry", "expired cache entries")} and the owner rows of ${count(pastOwners, "ended process", "ended processes")}.`,
          );
        return EXIT.finished;
      }),
    );
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}

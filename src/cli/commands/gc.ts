/** `toolwright gc`: deletes what is old. */
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
      "Deletes runs that ended long ago, with their calls. Runs that are running or wait for approval are never touched, " +
        "and the ids and business keys of deleted ones stay taken.",
    )
    .option("--older-than <time>", "delete runs that ended longer ago (default: 30d)", timeSpan)
    .option(
      "--replay-older-than <time>",
      "delete what failed, stopped or interrupted runs would resume from, such as model responses (default: 7d)",
      timeSpan,
    )
    .option("--dry-run", "count, and delete nothing");
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
        screen.tell({ dryRun: dryRun === true, ...report });
        const { deletedRuns, deletedCalls, clearedRuns, expiredCacheEntries, pastOwners } = report;
        const verb = dryRun === true ? "Would delete" : "Deleted";
        screen.say(`${verb} ${count(deletedRuns, "run")} with ${count(deletedCalls, "call")}.`);
        if (clearedRuns > 0)
          screen.say(
            `${verb} the model responses of ${count(clearedRuns, "run")} that did not end well; a resume begins another attempt.`,
          );
        if (expiredCacheEntries + pastOwners > 0)
          screen.say(
            `${verb} ${count(expiredCacheEntries, "expired cache entry", "expired cache entries")} and the marks of ${count(pastOwners, "past process", "past processes")}.`,
          );
        return EXIT.finished;
      }),
    );
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}

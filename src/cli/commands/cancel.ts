/** `toolwright cancel <run-id>`: stops a run. It can be resumed later. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { nextCommand } from "../command-name.ts";
import type { CancelResult } from "../../operate/cancel-run.ts";
import { CliError } from "../cli-error.ts";
import type { CommonOptions } from "../screen.ts";

export function addCancelCommand(program: Command): void {
  const command = program
    .command("cancel")
    .summary("stop a run")
    .description(
      "Stops a run. A workflow is stopped even if another process runs it, and can be resumed later. " +
        "An agent or a program is stopped if it waits, or if its process has ended.",
    )
    .argument("<run-id>", "the id of the run");
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright cancel order-17"))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>, runId: string) => {
        const { withAnyRun } = await import("../open.ts");
        const { cancelAnyRun } = await import("../../operate/steer-run.ts");
        const { explainSteps } = await import("../../operate/explain-run.ts");
        const { result, explained } = await withAnyRun(options.store, runId, async (store) => ({
          result: await cancelAnyRun(store, runId),
          explained: await explainSteps(store, runId),
        }));
        const { describeOwner } = await import("../../operate/run-owner.ts");
        const owner = result.owner === undefined ? "Its process" : describeOwner(result.owner);
        const message = messageFor(runId, result, owner);
        screen.printJson({ runId, status: result.status, message });
        screen.print(message);
        const isResumable = explained.next.some(({ action }) => action === "resume");
        // Otherwise its own program continues it.
        const how = explained.because.at(-1) ?? "";
        if (isResumable || result.outcome === "requested")
          screen.print(`  Resume it with:  ${nextCommand(options.store, "resume", runId)}`);
        else if (result.status === "cancelled") screen.print(`  ${how}`);
        return EXIT.finished;
      }),
    );
}

/** @throws CliError if the run had ended before */
function messageFor(runId: string, { outcome, status }: CancelResult, owner: string): string {
  switch (outcome) {
    case "cancelled":
      return `Run "${runId}" is stopped.`;
    case "already-cancelled":
      return `Run "${runId}" is already stopped.`;
    case "ended":
      return `Run "${runId}" is ${status}.`;
    case "already-ended":
      throw new CliError("CLI_RUN_OVER", `Run "${runId}" has ${status} already; there is nothing to stop.`);
    case "requested":
      return `${owner} was asked to stop run "${runId}" and has not stopped yet. The request stays open: if the process ends first, the next resume ends the run as cancelled.`;
  }
}

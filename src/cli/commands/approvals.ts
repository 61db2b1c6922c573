/** `toolwright approvals`: what waits for a person. */
import { type Command, Option } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { answerSteps, stepLines } from "../answer-lines.ts";
import { nextCommand } from "../command-name.ts";
import { type CommonOptions, toAge, toShortText } from "../screen.ts";

interface ApprovalsOptions extends CommonOptions {
  readonly run?: string;
  readonly status: "pending" | "approved" | "denied" | "expired" | "void" | "all";
}

const LONGEST = 200;

export function addApprovalsCommand(program: Command): void {
  const command = program
    .command("approvals")
    .summary("list what waits for a person")
    .description("Lists requests for a person's decision: tool calls, tasks and <Approval> nodes.")
    .option("--run <run-id>", "only those of one run")
    .addOption(
      new Option("--status <status>", "those that stand so")
        .choices(["pending", "approved", "denied", "expired", "void", "all"])
        .default("pending"),
    );
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright approvals", "toolwright approvals --run order-17 --json"))
    .action(
      acting(async ({ screen, options }: Acting<ApprovalsOptions>) => {
        const { storeExists, withStore } = await import("../open.ts");
        const { readApprovals } = await import("../../runtime/approvals.ts");
        const { systemClock } = await import("../../util/clock.ts");
        const status = options.status === "all" ? undefined : options.status;
        const requests = !storeExists(options.store)
          ? []
          : await withStore(options.store, (store) =>
              readApprovals({ store, clock: systemClock }, { status, runId: options.run }),
            );
        const { approvalRow } = await import("../approval-row.ts");
        screen.tell(requests.map(approvalRow));
        if (requests.length === 0) screen.say("There is nothing to decide.");
        for (const request of requests) {
          const { id, nodeId, runId, toolName, prompt, args } = request;
          screen.say(`${screen.paint("bold", id)}  ${request.status}  ${toAge(request.requestedAtMs)}`);
          screen.say(`  run ${runId}, task ${nodeId}${toolName === "" ? "" : `, ${toolName}`}`);
          screen.say(`  ${toShortText(prompt, LONGEST)}`);
          if (args !== undefined && args !== null) screen.say(`  ${toShortText(args, LONGEST)}`);
          if (request.status !== "pending") continue;
          // Nobody should agree to what they have not seen.
          if (isCut(prompt) || isCut(args))
            screen.say(`  All of it: ${nextCommand(options.store, "approvals", "--run", runId, "--json")}`);
          for (const line of stepLines(answerSteps(options.store, request))) screen.say(line);
        }
        return EXIT.finished;
      }),
    );
}

function isCut(value: unknown): boolean {
  return toShortText(value, LONGEST) !== toShortText(value, Infinity);
}

/** `toolwright approvals`: lists approval requests. */
import { type Command, Option } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { answerSteps } from "../../operate/next-step.ts";
import { stepLines, toTypedSteps } from "../step-lines.ts";
import { withoutPassword } from "../../operate/store-address.ts";
import { wholeNumber } from "../parse-options.ts";
import { toTerminalName } from "../../terminal/terminal-text.ts";
import { questionLines } from "../request-lines.ts";
import type { CommonOptions } from "../screen.ts";
import { toAge } from "../../terminal/readable.ts";

interface ApprovalsOptions extends CommonOptions {
  readonly run?: string;
  readonly limit: number;
  readonly status: "pending" | "approved" | "denied" | "expired" | "void" | "all";
}

export function addApprovalsCommand(program: Command): void {
  const command = program
    .command("approvals")
    .summary("list what waits for approval")
    .description(
      "Lists approval requests of tool calls, tasks and <Approval> nodes, with the commands that decide them.",
    )
    .option("--run <run-id>", "only requests of this run")
    .option("--limit <requests>", "the maximum number to list, oldest first", wholeNumber(1), 50)
    .addOption(
      new Option("--status <status>", "only those with this status")
        .choices(["pending", "approved", "denied", "expired", "void", "all"])
        .default("pending"),
    );
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright approvals", "toolwright approvals --run order-17 --json"))
    .action(
      acting(async ({ screen, options }: Acting<ApprovalsOptions>) => {
        const { assertRunExists, isNotCreatedYet } = await import("../open.ts");
        const isNew = isNotCreatedYet(options.store, screen);
        const { withStore } = await import("../../operate/find-run.ts");
        const { listRequests } = await import("../../operate/list-requests.ts");
        const status = options.status === "all" ? undefined : options.status;
        const filter = { status, runId: options.run };
        const { requests, total, resumable } = isNew
          ? { requests: [], total: 0, resumable: new Set<string>() }
          : await withStore(options.store, async (store) => {
              const found = await listRequests(store, filter, options.limit);
              if (found.total === 0 && options.run !== undefined)
                await assertRunExists(store, options.store, options.run);
              return found;
            });
        const { approvalRow } = await import("../approval-row.ts");
        screen.printJson(requests.map(approvalRow));
        if (requests.length === 0)
          screen.print(
            isNew
              ? `There is no store ${withoutPassword(options.store)}, so nothing waits for approval. Name another one with --store.`
              : options.status === "pending"
                ? "No requests are pending."
                : "No requests have this status.",
          );
        for (const request of requests) {
          const { id, nodeId, runId, toolName } = request;
          screen.print(
            `${screen.paint("bold", id)}  ${request.resolution ?? request.status}  ${toAge(request.requestedAtMs)}`,
          );
          const location = [`run ${toTerminalName(runId)}`, `task ${toTerminalName(nodeId)}`];
          const tool = request.kind === "task" ? [] : [`tool ${toTerminalName(toolName)}`];
          screen.print(`  ${[...location, ...tool].join(", ")}`);
          for (const line of questionLines(request, options.store)) screen.print(`  ${line}`);
          if (request.status !== "pending") continue;
          const steps = answerSteps(request, { resume: resumable.has(runId) });
          for (const line of stepLines(toTypedSteps(options.store, steps))) screen.print(line);
        }
        const more = total - requests.length;
        // On stderr: with --json, stdout is the list.
        if (more > 0)
          process.stderr.write(
            `${more.toLocaleString("en-US")} more ${more === 1 ? "is" : "are"} not shown. Use --limit ${total} or --run <run-id>.\n`,
          );
        return EXIT.finished;
      }),
    );
}

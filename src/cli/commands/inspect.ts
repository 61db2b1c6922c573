/** `toolwright inspect <run-id>`: shows everything that is stored about a run. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { nextCommand } from "../command-name.ts";
import { toTerminalName } from "../../terminal/terminal-text.ts";
import { shownStatus } from "../../operate/run-status.ts";
import { answerSteps } from "../../operate/next-step.ts";
import { type CommonOptions, STATUS_COLOURS } from "../screen.ts";
import { stepLines, toTypedSteps } from "../step-lines.ts";
import { toAge, toDuration, toShortText } from "../../terminal/readable.ts";

const MOST_REQUESTS = 20;

export function addInspectCommand(program: Command): void {
  const command = program
    .command("inspect")
    .summary("show a run and its tasks")
    .description("Shows a run: its input, options, tasks, outputs and pending requests.")
    .argument("<run-id>", "the id of the run");
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright inspect order-17", "toolwright inspect order-17 --json"))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>, runId: string) => {
        const { withAnyRun } = await import("../open.ts");
        const { inspectRun } = await import("../../operate/inspect-run.ts");
        const found = await withAnyRun(options.store, runId, inspectRun);
        const { resumable: resume, ...shown } = found;
        screen.printJson(shown);
        const status = shownStatus(found);
        screen.print(
          `${screen.paint("bold", found.name === "" ? found.kind : found.name)} ${toTerminalName(runId)}`,
        );
        if (found.kind !== "workflow") screen.print(`  kind      ${found.kind}`);
        screen.print(`  status    ${screen.paint(STATUS_COLOURS[status], status)}`);
        if (found.error !== null) screen.printBlock(`  error     ${found.error.message}`);
        if (found.file !== null) screen.print(`  file      ${found.file}`);
        screen.print(`  started   ${toAge(found.createdAtMs)}`);
        if (found.finishedAtMs !== null)
          screen.print(`  took      ${toDuration(found.finishedAtMs - found.createdAtMs)}`);
        if (found.kind === "workflow") {
          screen.print(`  input     ${toShortText(found.input)}`);
          screen.print(`  options   ${toShortText(found.options)}`);
        }
        const { parent, fork, forks } = found.lineage;
        if (parent !== null)
          screen.print(
            `  fork of   ${toTerminalName(parent)}${fork?.at == null ? "" : `, from ${toTerminalName(fork.at)}`}`,
          );
        if (forks.length > 0) screen.print(`  forks     ${forks.map(toTerminalName).join(" ")}`);
        if (found.revertedAtMs !== null) screen.print(`  reverted  ${toAge(found.revertedAtMs)}`);
        const labels = Object.entries(found.labels).map(([key, value]) => `${key}=${value}`);
        if (labels.length > 0) screen.print(`  labels    ${toShortText(labels.join(" "))}`);
        const open = found.interruptedCalls.length;
        screen.print(`  calls     ${found.calls}${open === 0 ? "" : `, ${open} with an unknown outcome`}`);
        if (found.kind === "workflow") screen.print(`  tasks     ${found.tasks.length}`);
        else
          for (const node of found.tree)
            screen.print(`    ${toTerminalName(node.nodeId)}[${node.path}]  ${node.status}`);
        for (const task of found.tasks) {
          const pass = task.path === "" || task.path === "0" ? "" : `[${task.path}]`;
          const attempt = task.attempt === 1 ? "" : `, attempt ${task.attempt}`;
          const what =
            task.error === null ? toShortText(task.output ?? "", 70) : toShortText(task.error.message, 70);
          screen.print(
            `    ${toTerminalName(task.nodeId)}${pass}  ${task.status}${attempt}  ${what}`.trimEnd(),
          );
        }
        for (const request of found.approvals.slice(0, MOST_REQUESTS)) {
          screen.print(`  waits for ${request.id}: ${toShortText(request.prompt, 70)}`);
          // A yes or no does not answer it, so show the three answers.
          if (request.kind === "replay")
            for (const line of stepLines(
              toTypedSteps(options.store, answerSteps(request, { resume })),
              "    ",
            ))
              screen.print(line);
        }
        if (found.approvals.length > MOST_REQUESTS)
          screen.print(
            `  and for ${found.approvals.length - MOST_REQUESTS} more: ${nextCommand(options.store, "approvals", ["--run", runId])}`,
          );
        return EXIT.finished;
      }),
    );
}

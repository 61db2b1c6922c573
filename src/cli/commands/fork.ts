/** `toolwright fork <run-id>`: makes a run from a part of another one. */
import { type Command, Option } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import { nextCommand } from "../command-name.ts";
import type { CommonOptions } from "../screen.ts";

interface ForkCommandOptions extends CommonOptions {
  readonly at?: string;
  readonly input?: string;
  readonly outputs?: string;
  readonly effects?: string;
  readonly dryRun?: boolean;
}

export function addForkCommand(program: Command): void {
  const command = program
    .command("fork")
    .summary("create a run from part of another run")
    .description(
      "Creates a run with the tasks and calls of another run, up to a task or call. Nothing runs yet: resume the fork, or let a worker take it. The original run does not change.",
    )
    .argument("<run-id>", "the id of the run")
    .option("--at <task>", "the first task that runs in the fork, or the key of a call")
    .option("--input <json>", "another input: JSON, @file, or - for stdin")
    .option("--outputs <json>", "other outputs of tasks before --at, by task id")
    .addOption(
      new Option(
        "--effects <what>",
        "what to do about effects that the original run already had (default: ask)",
      ).choices(["ask", "reuse", "run"]),
    )
    .option("--dry-run", "show what would be copied, and create no run");
  withCommonOptions(command)
    .addHelpText(
      "after",
      examples(
        "toolwright fork order-17 --at draft",
        `toolwright fork order-17 --input '{"item":"apple"}'`,
        "toolwright fork order-17 --at send --effects reuse --dry-run",
      ),
    )
    .action(
      acting(async ({ screen, options }: Acting<ForkCommandOptions>, runId: string) => {
        const { assertStoreExists } = await import("../open.ts");
        const { readJson } = await import("../parse-options.ts");
        const { createRuntime } = await import("../../runtime/create-runtime.ts");
        const { store, at, effects, dryRun } = options;
        assertStoreExists(store);
        const read = (name: string, text?: string): unknown =>
          text === undefined ? undefined : readJson(name, text);
        const input = read("--input", options.input);
        const outputs = read("--outputs", options.outputs) as Record<string, unknown> | undefined;
        await using runtime = createRuntime({ store });
        // The options are checked there: every face refuses the same values.
        const made = await runtime.fork({ runId, at, input, outputs, effects: effects as "ask", dryRun });
        screen.printJson(made);
        const { tasks, calls } = made.copied;
        const copied = `${tasks} ${tasks === 1 ? "task" : "tasks"} and ${calls} ${calls === 1 ? "call" : "calls"}`;
        if (made.dryRun) screen.print(`A fork of "${runId}" would copy ${copied}. Nothing was changed.`);
        else screen.print(`Run "${made.runId}" is a fork of "${runId}" with ${copied}.`);
        if (made.rerun.length > 0) screen.print(`  runs again  ${made.rerun.join(", ")}`);
        if (made.reverted.length > 0)
          screen.print(`  copied, though their effects were reverted  ${made.reverted.join(", ")}`);
        if (made.dryRun) return EXIT.finished;
        const { explainSteps } = await import("../../operate/explain-run.ts");
        const { hostOf } = await import("../../runtime/create-runtime.ts");
        const { because, next } = await explainSteps((await hostOf(runtime)).store, made.runId);
        screen.print(
          next.some(({ action }) => action === "resume")
            ? `  Run it with:  ${nextCommand(store, "resume", made.runId)}`
            : `  ${because.at(-1) ?? ""}`,
        );
        return EXIT.finished;
      }),
    );
}

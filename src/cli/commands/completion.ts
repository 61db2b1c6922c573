/** `toolwright completion <shell>`: prints a completion script. */
import { Argument, type Command } from "commander";
import { type Acting, acting, EXIT, withOutputOptions } from "../command.ts";
import { completionScript, SHELLS } from "../completion.ts";

export function addCompletionCommand(program: Command): void {
  const installs = Object.entries(SHELLS).map(([shell, { install }]) => `  ${shell.padEnd(5)} ${install}`);
  const command = program
    .command("completion")
    .summary("print a completion script for bash, zsh or fish")
    .description(
      "Prints a script that completes commands, options and their choices. It does not complete run ids and tools of a " +
        "project: those would run the project's config while you type.",
    )
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)));
  withOutputOptions(command)
    .addHelpText("after", `\nExamples:\n${installs.join("\n")}`)
    .action(
      acting(async ({ screen }: Acting<object>, shell: string) => {
        const script = completionScript(program, shell);
        screen.printJson({ shell, script, install: SHELLS[shell]?.install });
        if (!screen.isJson) process.stdout.write(script);
        return EXIT.finished;
      }),
    );
}

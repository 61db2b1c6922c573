/** `toolwright doctor`: checks everything that a run needs. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withCommonOptions } from "../command.ts";
import type { Colour, CommonOptions } from "../screen.ts";

const COLOURS: Readonly<Record<string, Colour>> = { ok: "green", note: "yellow", wrong: "red" };

export function addDoctorCommand(program: Command): void {
  const command = program
    .command("doctor")
    .summary("check Node, the store, the sandbox and optional packages")
    .description("Checks the version of Node, the store, the sandbox for commands, and optional packages.");
  withCommonOptions(command)
    .addHelpText("after", examples("toolwright doctor", "toolwright doctor --store postgres://localhost/app"))
    .action(
      acting(async ({ screen, options }: Acting<CommonOptions>) => {
        const { examine } = await import("../examine.ts");
        const checks = await examine(options.store);
        const isOk = checks.every((check) => check.status !== "wrong");
        screen.printJson({ ok: isOk, checks });
        for (const { name, status, detail, remedy } of checks) {
          screen.print(
            `${screen.paint(COLOURS[status] ?? "gray", status.padEnd(5))}  ${name.padEnd(9)}  ${detail}`,
          );
          if (remedy !== null) screen.print(`${" ".repeat(18)}${remedy}`);
        }
        return isOk ? EXIT.finished : EXIT.failed;
      }),
    );
}

/** `toolwright tools`: lists the tools of `toolwright.config.ts` with their commands. */
import type { Command } from "commander";
import { type Acting, acting, EXIT, examples, withOutputOptions } from "../command.ts";
import { toShortText } from "../../terminal/readable.ts";

export function addToolsCommand(program: Command): void {
  const command = program
    .command("tools")
    .summary("list the tools of this project, which are commands too")
    .description(
      "Lists the tools in this folder's toolwright.config.ts. Each is a command: toolwright <group> <name> --help.",
    );
  withOutputOptions(command)
    .addHelpText("after", examples("toolwright tools", "toolwright tools --json"))
    .action(
      acting(async ({ screen }: Acting<object>) => {
        const { loadConfig } = await import("../load-config.ts");
        const { commandOf, placeTools } = await import("../project-tools.ts");
        const { describeTool, flagsOf } = await import("../describe-tool.ts");
        const { reserveStdout } = await import("../../terminal/reserve-stdout.ts");
        const { fitTable, outputWidth } = await import("../../terminal/fitted-table.ts");
        const restore = screen.isJson ? reserveStdout() : () => undefined;
        const config = await loadConfig(process.cwd()).finally(restore);
        if (config === undefined) {
          const { CliError } = await import("../cli-error.ts");
          throw new CliError(
            "CLI_CONFIG_MISSING",
            "There is no toolwright.config.ts in this folder.",
            "Write one: export default { tools: [ … ] };",
          );
        }
        const placed = placeTools(program, config);
        screen.printJson(
          placed.map((one) => ({
            ...describeTool(one.tool),
            command: commandOf(one),
            note: one.note ?? null,
          })),
        );
        const rows = placed.map((one) => [
          commandOf(one) ?? "-",
          one.tool.name,
          flagsOf(one.tool).join(", "),
          toShortText(one.tool.description, 1_000),
        ]);
        if (rows.length === 0) screen.print("There are no tools.");
        else {
          const columns = [
            { title: "COMMAND" },
            { title: "TOOL", drop: 1 },
            { title: "FLAGS", least: 8 },
            { title: "DESCRIPTION", least: 12 },
          ];
          const table = fitTable(columns, rows, outputWidth());
          screen.printText(screen.paint("bold", table.head));
          for (const line of table.rows) screen.printText(line);
        }
        for (const { note } of placed) if (note !== undefined) screen.warn(note);
        return EXIT.finished;
      }),
    );
}

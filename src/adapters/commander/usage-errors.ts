/** Usage errors, ours and Commander's, end with exit code 2, and with `--json` in the standard error shape. */
import type { Command, ErrorOptions } from "commander";
import { ToolwrightError } from "../../errors.ts";
import { toTerminalBlock, toTerminalJson } from "../../terminal/terminal-text.ts";
import { typedPath } from "./command-help.ts";
import type { CommandSettings } from "./command-settings.ts";
import { EXIT_CODES } from "./exit-codes.ts";

export function answerUsage(command: Command, settings: CommandSettings): void {
  const answer = command.error.bind(command);
  command.error = (given: string, options?: ErrorOptions): never => {
    const message = isMissingCommand(command, given)
      ? missingCommand(command)
      : given.replace("\n(Did you mean ", " (Did you mean ");
    const hint = `See: ${typedPath(command, settings)} --help`;
    if (wantsJson(command)) {
      const error = new ToolwrightError("TOOL_INPUT_INVALID", message.replace(/^error: /, ""), {
        hint,
      });
      command.configureOutput().writeOut?.(`${toTerminalJson(error.toModel())}\n`);
    }
    return answer(`${toTerminalBlock(message)}\n  ${hint}`, { ...options, exitCode: EXIT_CODES.usage });
  };
}

/** Only the commands of a group have `--json`, so this error means that the command is missing. */
function isMissingCommand(command: Command, message: string): boolean {
  return command.commands.length > 0 && /unknown option '--json'/.test(message);
}

function missingCommand(command: Command): string {
  const names = command.commands.map((one) => one.name());
  return `error: missing command. "${command.name()}" has: ${names.join(", ")}.`;
}

/** An error may occur before `--json` is parsed, so this also checks the raw arguments. */
function wantsJson(command: Command): boolean {
  if (command.optsWithGlobals()["json"] === true) return true;
  let root = command;
  while (root.parent !== null) root = root.parent;
  const { rawArgs }: { rawArgs?: readonly string[] } = root as { rawArgs?: readonly string[] };
  return rawArgs?.includes("--json") ?? false;
}

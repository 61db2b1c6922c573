/** Bad usage ends with exit code 2, and with --json as the one error shape, whoever found it: Commander or we. */
import type { Command, ErrorOptions } from "commander";
import { ToolwrightError } from "../../errors.ts";
import { toTerminalBlock, toTerminalJson } from "../../terminal/terminal-text.ts";
import { commandPath } from "./command-help.ts";
import { EXIT_CODES } from "./exit-codes.ts";

export function answerUsage(command: Command): void {
  const answer = command.error.bind(command);
  command.error = (given: string, options?: ErrorOptions): never => {
    const message = isMissingCommand(command, given) ? missingCommand(command) : given;
    if (wantsJson(command)) {
      const error = new ToolwrightError("TOOL_INPUT_INVALID", message.replace(/^error: /, ""), {
        hint: `See: ${commandPath(command)} --help`,
      });
      command.configureOutput().writeOut?.(`${toTerminalJson(error.toModel())}\n`);
    }
    return answer(toTerminalBlock(message), { ...options, exitCode: EXIT_CODES.usage });
  };
}

/** `--json` belongs to the commands of a group, so it is unknown only because the command is missing. */
function isMissingCommand(command: Command, message: string): boolean {
  return command.commands.length > 0 && /unknown option '--json'/.test(message);
}

function missingCommand(command: Command): string {
  const names = command.commands.map((one) => one.name());
  return `error: a command of "${command.name()}" is missing: ${names.join(", ")}.`;
}

/** An error may come before `--json` is parsed, so the words are looked at as they were typed. */
function wantsJson(command: Command): boolean {
  if (command.optsWithGlobals()["json"] === true) return true;
  let root = command;
  while (root.parent !== null) root = root.parent;
  const { rawArgs }: { rawArgs?: readonly string[] } = root as { rawArgs?: readonly string[] };
  return rawArgs?.includes("--json") ?? false;
}

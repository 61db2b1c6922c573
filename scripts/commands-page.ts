/**
 * Writes docs/reference/commands.md: the help of every command, as the command prints it. A test compares the page with the
 * program, so a new flag is in the reference. Run: npx node scripts/commands-page.ts
 */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { createProgram } from "../src/cli/program.ts";

export const COMMANDS_PAGE = join(resolve(import.meta.dirname, ".."), "docs/reference/commands.md");

export interface DescribedCommand {
  /** Without `toolwright`, such as `up`. */
  readonly name: string;
  readonly flags: readonly string[];
  readonly help: string;
}

export function describeCommands(): DescribedCommand[] {
  const program = createProgram([]);
  return program.commands.flatMap((command) => describe(command, ""));
}

function describe(command: Command, prefix: string): DescribedCommand[] {
  const name = `${prefix}${command.name()}`;
  const flags = command.options.flatMap(({ long }) => long ?? []);
  const own = { name, flags: [...flags, "--help"], help: helpOf(command) };
  return [own, ...command.commands.flatMap((inner) => describe(inner, `${name} `))];
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (part) => (text += part),
    getOutHelpWidth: () => 80,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.trim();
}

export function renderCommandsPage(): string {
  const sections = describeCommands().map(
    ({ name, help }) => `## toolwright ${name}\n\n\`\`\`text\n${help}\n\`\`\`\n`,
  );
  return `# Every command and its options

This page is the output of \`--help\`, written by \`node scripts/commands-page.ts\`. [Command line](command-line.md) explains how the commands
work together, [tools as commands](../guides/commands.md) what your own tools add to them.

${sections.join("\n")}`;
}

if (process.argv[1] === import.meta.filename) {
  // The commands on the page do not depend on what started this script.
  delete process.env["npm_command"];
  writeFileSync(COMMANDS_PAGE, renderCommandsPage());
}

/** Parts of the help text besides the options: the summary, and an example command. */
import type { Command } from "commander";
import { printedWord } from "../../terminal/terminal-text.ts";
import type { CommandSettings } from "./command-settings.ts";
import type { FieldPlan, InputPlan } from "./plan-input.ts";
import { isFlag, type Shape } from "./shape.ts";

/** The first sentence. */
export function summaryOf(description: string): string {
  const [first = ""] = description.split(/(?<=[.!?])\s|\n/);
  return first.trim().replace(/\.$/, "");
}

/** An example with every required field and one optional one. */
export function exampleLine(
  command: Command,
  { positionals, fields }: InputPlan,
  settings: CommandSettings,
): string {
  const words = positionals.map(({ name, field }) => {
    const word = field === undefined ? undefined : exampleOf(field.shape);
    return printedWord(word ?? name.toUpperCase());
  });
  const inLocation = new Set(positionals.map(({ field }) => field));
  const open = fields.filter((field) => field.path.length === 1 && !inLocation.has(field));
  const needed = open.filter(({ isRequired, unlessSetBy }) => isRequired && unlessSetBy === undefined);
  const extra = open.find(
    ({ isRequired, setBy, shape }) => !isRequired && setBy === undefined && exampleOf(shape) !== undefined,
  );
  const options = [...needed, ...(extra === undefined ? [] : [extra])].flatMap(optionWords);
  return [typedPath(command, settings), ...words, ...options].join(" ");
}

/** The command as the user can type it. */
export function typedPath(command: Command, { calledAs }: CommandSettings): string {
  const [name = "", ...words] = commandPath(command).split(" ");
  return [calledAs?.() ?? name, ...words].join(" ");
}

export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

function optionWords({ option, shape, path }: FieldPlan): string[] {
  if (option === undefined) return [];
  if (isFlag(shape)) return [shape.default === true ? `--no-${option}` : `--${option}`];
  return [`--${option}`, printedWord(exampleOf(shape) ?? (path.at(-1) ?? "").toUpperCase())];
}

function isUsefulExample(value: unknown): boolean {
  return typeof value === "object"
    ? Object.keys(value ?? {}).length > 0
    : value !== undefined && value !== "";
}

function exampleOf(shape: Shape): string | undefined {
  const given = [...shape.examples, ...shape.choices, shape.default].find(isUsefulExample);
  if (given !== undefined) return typeof given === "string" ? given : JSON.stringify(given);
  if (isFlag(shape)) return "true";
  return shape.number === undefined ? undefined : "10";
}

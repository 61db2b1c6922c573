/** Declares fields as Commander options and arguments. Values stay text; the command parses them. */
import type { Command } from "commander";
import { toTerminalText } from "../../terminal/terminal-text.ts";
import type { OwnOption } from "./command-settings.ts";
import { describeShape, placeholderOf, remarksOn } from "./describe-shape.ts";
import type { FieldPlan, PositionalPlan } from "./plan-input.ts";
import { isFlag, isObjectShape } from "./shape.ts";

/** Never declared as required: the tool's validation reports missing fields, with the same message as for a model. */
export function addPositional(
  command: Command,
  { name, field, sets, isRequired, isVariadic }: PositionalPlan,
): void {
  command.argument(
    `[${name}${isVariadic ? "..." : ""}]`,
    toTerminalText(field === undefined ? describeParsed(sets, isRequired) : describeWord(field, isRequired)),
  );
}

function describeWord({ shape }: FieldPlan, isRequired: boolean): string {
  return `${shape.description ?? describeShape(shape)} ${remarksOn(shape, isRequired)}`.trim();
}

function describeParsed(sets: readonly string[], isRequired: boolean): string {
  return [isRequired ? "(required)" : "", sets.length === 0 ? "" : `sets ${sets.join(" and ")}`]
    .filter((part) => part !== "")
    .join(" ");
}

export function addFieldOption(command: Command, field: FieldPlan): void {
  const { shape, option: name, alias, isNegatable } = field;
  if (name === undefined) return;
  const takesValue = !isFlag(shape) ? `<${placeholderOf(shape)}>` : shape.null ? "[true|false|null]" : "";
  const flags = `${alias === undefined ? "" : `${alias}, `}--${name} ${takesValue}`.trim();
  const option = command.createOption(flags, toTerminalText(describeField(field)));
  // `--no-cache` may be the name of a field instead of the opposite of `--cache`.
  option.negate = false;
  if (takesValue !== "") option.argParser(collect);
  command.addOption(option.hideHelp(field.isHidden));
  if (!isNegatable) return;
  const opposite = command.createOption(`--no-${name}`, `the opposite of --${name}`);
  command.addOption(opposite.hideHelp(field.isHidden));
}

/** @returns the name under which Commander stores the value */
export function addOwnOption(command: Command, option: OwnOption, taken: ReadonlySet<string>): string {
  const { value, description, isHidden = false } = option;
  let { name } = option;
  while (taken.has(name)) name = `tool-${name}`;
  const declared = command.createOption(`--${name}${value === undefined ? "" : ` <${value}>`}`, description);
  declared.negate = false;
  command.addOption(declared.hideHelp(isHidden));
  return declared.attributeName();
}

function collect(text: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? (before as string[]) : []), text];
}

function describeField({ shape, isRequired, setBy, unlessSetBy, path }: FieldPlan): string {
  const name = path.join(".");
  const dotted =
    isObjectShape(shape) && (shape.fields?.size ?? 0) > 0 ? `JSON, or --${name}.… for each field` : "";
  return [
    shape.description ?? "",
    remarksOn(shape, isRequired, { setBy, unlessSetBy }),
    shape.description === undefined ? dotted : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}

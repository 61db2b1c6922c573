/** Maps the fields of a tool's input to positionals and options. */
import type { CliOptions, ParsedPositional } from "../../definition/tool-options.ts";
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import { isWord, toKebab } from "./plan-commands.ts";
import { toShape } from "./read-shape.ts";
import { isFlag, isScalar, type Shape } from "./shape.ts";

export interface FieldPlan {
  /** The path of the field in the input. Empty: the input itself. */
  readonly path: readonly string[];
  readonly shape: Shape;
  readonly isRequired: boolean;
  /** The positional that also sets the field. Using both is an error. */
  readonly setBy: string | undefined;
  /** A positional that may set the field: which fields it sets is unknown. */
  readonly unlessSetBy: string | undefined;
  /** Without the dashes; `undefined` if the field has no option. */
  readonly option: string | undefined;
  /** Whether `--no-…` sets it to false. */
  readonly isNegatable: boolean;
  readonly alias: string | undefined;
  /** Positionals are also available as options, which help omits. */
  readonly isHidden: boolean;
}

export interface PositionalPlan {
  readonly name: string;
  readonly field: FieldPlan | undefined;
  readonly parse: ((text: string) => Record<string, unknown>) | undefined;
  /** The options of the fields that `parse` sets. */
  readonly sets: readonly string[];
  readonly isRequired: boolean;
  readonly isVariadic: boolean;
}

export interface InputPlan {
  readonly shape: Shape;
  readonly positionals: readonly PositionalPlan[];
  readonly fields: readonly FieldPlan[];
}

/** Fields at a greater depth are available as JSON only. */
const DEEPEST = 5;

/** @param taken reserved option names; the names of the fields are added */
export function planInput(spec: ToolSpec, taken: Set<string>): InputPlan {
  const shape = toShape(spec.inputJsonSchema);
  const aliases = aliasesOf(spec, taken);
  const names = positionalNames(spec.cli, shape);
  const parsed = parsedPositionals(spec.cli);
  const unknown = parsed.find((one) => one.sets === undefined)?.name;
  const fields: FieldPlan[] = [];
  const visit = (above: Shape, path: readonly string[], isNeeded: boolean): void => {
    for (const [name, field] of above.fields ?? []) {
      const here = [...path, name];
      // A field that a positional sets is not a required option.
      const top = here[0] ?? "";
      const setBy = parsed.find(({ sets }) => sets?.has(top) === true)?.name;
      const isRequired = isNeeded && field.isRequired && setBy === undefined;
      const option = optionName(here, taken);
      const negative = `no-${option}`;
      const isNegatable = option !== undefined && isFlag(field.shape) && !taken.has(negative);
      if (isNegatable) taken.add(negative);
      const isPositional = path.length === 0 && names.includes(name);
      fields.push({
        path: here,
        shape: field.shape,
        isRequired,
        setBy,
        unlessSetBy: isRequired && !isPositional ? unknown : undefined,
        option,
        isNegatable,
        alias: aliases.get(here.join(".")),
        isHidden: isPositional && !isFlag(field.shape),
      });
      if (here.length < DEEPEST) visit(field.shape, here, isRequired);
    }
  };
  visit(shape, [], true);
  for (const [name] of aliases) {
    if (!fields.some(({ path }) => path.join(".") === name))
      throw unknownField(spec, "aliases", name, fields);
  }
  return { shape, fields, positionals: planPositionals(spec, names, fields, shape) };
}

function parsedPositionals({ positionals }: CliOptions) {
  return listOf(positionals ?? []).flatMap((one) =>
    typeof one === "string" ? [] : [{ name: one.name, sets: fieldsSetBy(one) }],
  );
}

function positionalNames({ positionals }: CliOptions, { fields }: Shape): string[] {
  if (positionals === undefined) {
    return [...(fields ?? [])].flatMap(([name, field]) =>
      field.isRequired && isScalar(field.shape) ? [name] : [],
    );
  }
  return listOf(positionals).flatMap((one) => (typeof one === "string" ? [one] : []));
}

function planPositionals(
  spec: ToolSpec,
  names: readonly string[],
  fields: readonly FieldPlan[],
  shape: Shape,
): PositionalPlan[] {
  const list = spec.cli.positionals === undefined ? names : listOf(spec.cli.positionals);
  return list.map((one, index) => {
    if (typeof one !== "string") {
      const sets = fieldsSetBy(one);
      const isRequired = [...(shape.fields ?? [])].some(
        ([name, field]) => field.isRequired && (sets?.has(name) ?? !names.includes(name)),
      );
      const options = fields.flatMap(({ path, option, setBy }) =>
        path.length === 1 && setBy === one.name && option !== undefined ? [`--${option}`] : [],
      );
      const { name, parse } = one;
      return { name, field: undefined, parse, sets: options, isRequired, isVariadic: false };
    }
    const field = fields.find(({ path }) => path.length === 1 && path[0] === one);
    if (field === undefined) throw unknownField(spec, "positionals", one, fields);
    const isVariadic = field.shape.list !== undefined && index === list.length - 1;
    const { isRequired } = field;
    return { name: toKebab(one), field, parse: undefined, sets: [], isRequired, isVariadic };
  });
}

/** Tries kebab-case, then the original spelling, then a `field-` prefix. */
function optionName(path: readonly string[], taken: Set<string>): string | undefined {
  const candidates = [path.map(toKebab).join("."), path.join("."), `field-${path.map(toKebab).join(".")}`];
  const name = candidates.find((one) => isWord(one) && !taken.has(one) && !taken.has(attributeOf(one)));
  if (name === undefined) return undefined;
  taken.add(name);
  // Commander stores values under this name: two options with the same one would share their value.
  taken.add(attributeOf(name));
  return name;
}

function attributeOf(option: string): string {
  return option.split("-").reduce((text, word) => text + word.charAt(0).toUpperCase() + word.slice(1));
}

function aliasesOf(spec: ToolSpec, taken: Set<string>): Map<string, string> {
  const aliases = new Map(Object.entries(spec.cli.aliases ?? {}));
  for (const [field, alias] of aliases) {
    const isShort = /^-[\p{L}\p{N}]$/u.test(alias);
    if (!isShort && !(alias.startsWith("--") && isWord(alias.slice(2)))) {
      throw invalid(
        spec,
        `cli.aliases.${field}`,
        `must be a dash and a letter such as "-d", not "${alias}".`,
      );
    }
    const name = isShort ? alias : alias.slice(2);
    if (taken.has(name) || alias === "-h") {
      throw invalid(spec, `cli.aliases.${field}`, `is "${alias}", which is already in use.`);
    }
    taken.add(name);
  }
  return aliases;
}

function listOf(positionals: NonNullable<CliOptions["positionals"]>) {
  return "parse" in positionals ? [positionals] : positionals;
}

function unknownField(
  spec: ToolSpec,
  option: string,
  name: string,
  fields: readonly FieldPlan[],
): ToolwrightError {
  const names = fields.filter(({ path }) => path.length === 1).map(({ path }) => path[0]);
  const list = names.length === 0 ? "has none" : `has ${names.join(", ")}`;
  return invalid(spec, `cli.${option}`, `names "${name}", which is not a field of the input; it ${list}.`);
}

function invalid(spec: ToolSpec, field: string, problem: string): ToolwrightError {
  return new ToolwrightError("TOOL_DEFINITION_INVALID", `Tool "${spec.name}": ${field} ${problem}`, {
    details: { tool: spec.name, field },
  });
}

/** Sample texts. The name of the positional is tried before them: it is often an example, such as `drive:/path`. */
const SAMPLES = [
  "a",
  "a:/b",
  "a:b",
  "a/b",
  "a@b",
  "a=b",
  "a,b",
  "a b",
  "a-b",
  "1",
  "1:2",
  "2026-01-31",
  "{}",
];

/**
 * Finds the fields that a positional `{ name, parse }` sets by calling `parse` with sample texts. Only help uses the
 * result, so this must never throw. @returns `undefined` if no sample could be parsed
 */
function fieldsSetBy({ name, parse }: ParsedPositional): ReadonlySet<string> | undefined {
  for (const sample of [name, ...SAMPLES]) {
    const fields = keysOf(parse, sample);
    if (fields.length > 0) return new Set(fields);
  }
  return undefined;
}

function keysOf(parse: ParsedPositional["parse"], text: string): string[] {
  try {
    const parsed: unknown = parse(text);
    return typeof parsed === "object" && parsed !== null ? Object.keys(parsed) : [];
  } catch {
    // This sample does not have the expected form.
    return [];
  }
}

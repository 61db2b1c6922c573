/** Builds the input from the command line: `--input` first, then positionals, then options, nested fields last. */
import type { Command } from "commander";
import { messageOf } from "../../invoke/error-record.ts";
import { type OnUnread, parseTexts } from "./parse-text.ts";
import type { FieldPlan, InputPlan, PositionalPlan } from "./plan-input.ts";
import { isObjectShape, type Shape } from "./shape.ts";

/** The command line is invalid. The tool is not called, so nothing is logged. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

interface Given {
  readonly label: string;
  readonly path: readonly string[];
  readonly shape: Shape | undefined;
  readonly parse?: PositionalPlan["parse"];
  /** A flag has no text. */
  readonly value: boolean | readonly string[];
}

export interface CollectedInput {
  readonly input: unknown;
  /** Notes on fields whose text is not of their type. The schema decides whether to accept them. */
  readonly unread: readonly string[];
}

/**
 * @param whole the value of `--input`
 * @throws UsageError if the command line is ambiguous or unreadable; the tool's schema validates the result
 */
export async function collectInput(
  command: Command,
  plan: InputPlan,
  whole: { readonly label: string; readonly text: string | undefined },
): Promise<CollectedInput> {
  const options = givenOptions(command, plan);
  const given = [
    ...(whole.text === undefined ? [] : [{ ...whole, path: [], shape: plan.shape, value: [whole.text] }]),
    ...givenPositionals(command.args, plan, options),
    ...options.toSorted((one, other) => one.path.length - other.path.length),
  ];
  let input: unknown = isObjectShape(plan.shape) ? {} : undefined;
  const unread: Unread[] = [];
  for (const one of await withStdin(given)) {
    // A nested field would silently replace the unreadable value.
    const replaced = unread.find(({ path }) => path.length < one.path.length && isWithin(one.path, path));
    if (replaced !== undefined) throw new UsageError(replaced.note);
    if (one.parse !== undefined) {
      const parsed = parsedFields(one.label, one.parse, (one.value as readonly string[]).join(" "));
      refuseTwice(one.label, parsed, options);
      input = { ...asRecord(input), ...parsed };
    } else input = withValue(input, one, (note) => unread.push({ note, path: one.path }));
  }
  return { input, unread: unread.map(({ note }) => note) };
}

interface Unread {
  readonly note: string;
  readonly path: readonly string[];
}

function isWithin(path: readonly string[], above: readonly string[]): boolean {
  return above.every((name, index) => path[index] === name);
}

/** A positional that sets several fields conflicts with an option for one of them: neither may silently win. */
function refuseTwice(
  label: string,
  parsed: Readonly<Record<string, unknown>>,
  options: readonly Given[],
): void {
  const twice = options.find(
    ({ path: [name = ""] }) => Object.hasOwn(parsed, name) && parsed[name] !== undefined,
  );
  if (twice === undefined) return;
  const set = JSON.stringify(parsed[twice.path[0] ?? ""]);
  throw new UsageError(
    `${twice.label} and ${label} both set "${twice.path[0]}" (${label} sets it to ${set}). Omit one of them.`,
  );
}

function givenOptions(command: Command, { fields }: InputPlan): Given[] {
  const values: Readonly<Record<string, unknown>> = command.opts();
  return fields.flatMap(({ path, shape, option }) => {
    const declared = command.options.find(({ long, negate }) => long === `--${option}` && !negate);
    const name = declared?.attributeName() ?? "";
    // A field may be named "constructor".
    if (declared === undefined || !Object.hasOwn(values, name)) return [];
    return [{ label: `--${option}`, path, shape, value: values[name] as boolean | string[] }];
  });
}

/** A field that is set by an option does not take a positional. */
function givenPositionals(
  words: readonly string[],
  { positionals }: InputPlan,
  options: readonly Given[],
): Given[] {
  const isOption = (field: FieldPlan | undefined): boolean =>
    field !== undefined && options.some(({ path }) => path === field.path);
  const open = positionals.filter(({ field }) => !isOption(field));
  if (words.length > open.length && open.at(-1)?.isVariadic !== true) {
    throw new UsageError(`unexpected argument ${JSON.stringify(words[open.length])}.`);
  }
  return open.flatMap(({ name, field, parse, isVariadic }, index) => {
    const texts = isVariadic ? words.slice(index) : words.slice(index, index + 1);
    if (texts.length === 0) return [];
    return [{ label: `<${name}>`, path: field?.path ?? [], shape: field?.shape, parse, value: texts }];
  });
}

/** Replaces a dash by the content of stdin. */
async function withStdin(given: readonly Given[]): Promise<Given[]> {
  const dashes = given.flatMap(({ label, value }) =>
    typeof value === "boolean" ? [] : value.filter((text) => text === "-").map(() => label),
  );
  if (dashes.length > 1) {
    throw new UsageError(`only one value can be read from stdin, but ${dashes.join(" and ")} are "-".`);
  }
  const text = dashes.length === 0 ? "" : await readStdin(dashes[0] ?? "");
  return given.map((one) =>
    typeof one.value === "boolean"
      ? one
      : { ...one, value: one.value.map((word) => (word === "-" ? text : word)) },
  );
}

async function readStdin(label: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    // Decoding would silently change the bytes.
    throw new UsageError(`${label} takes text, but stdin is not valid UTF-8.`);
  }
}

function withValue(input: unknown, { label, path, shape, value }: Given, onUnread: OnUnread): unknown {
  if (typeof value === "boolean") return setAt(input, path, value);
  if (shape === undefined) return input;
  return setAt(input, path, parseTexts(shape, label, value, onUnread));
}

function parsedFields(
  label: string,
  parse: NonNullable<PositionalPlan["parse"]>,
  text: string,
): Record<string, unknown> {
  let fields: unknown;
  try {
    // Input from stdin usually ends with a line break.
    fields = parse(text.replace(/\r?\n$/, ""));
  } catch (error) {
    throw new UsageError(`${label} cannot be ${JSON.stringify(text)}: ${messageOf(error)}`);
  }
  if (typeof fields === "object" && fields !== null) return fields as Record<string, unknown>;
  throw new UsageError(`${label} cannot be ${JSON.stringify(text)}.`);
}

function setAt(input: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const record = asRecord(input);
  const inner = Object.hasOwn(record, name) ? record[name] : undefined;
  // Unlike an assignment, this supports any name, such as "__proto__".
  return Object.fromEntries([...Object.entries(record), [name, setAt(inner, rest, value)]]);
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

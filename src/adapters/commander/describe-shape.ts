/** Describes the values that a field accepts, for help and errors. */
import { isFlag, isObjectShape, type Shape } from "./shape.ts";

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "a date and time such as 2026-01-31T12:00:00Z",
  date: "a date such as 2026-01-31",
  time: "a time such as 12:00:00",
  email: "an e-mail address",
  uri: "a URL",
  uuid: "a UUID",
};

export function describeShape(shape: Shape): string {
  if (shape.any) return "JSON or text";
  const parts = [
    ...(shape.choices.length === 0 ? [] : [`one of ${shape.choices.join(", ")}`]),
    ...(shape.text ? [FORMATS[shape.format ?? ""] ?? "text"] : []),
    ...(shape.number === undefined ? [] : [shape.number === "integer" ? "a whole number" : "a number"]),
    ...(shape.boolean ? ["true or false"] : []),
    ...(shape.list === undefined
      ? []
      : [`a JSON list, or one item per option (${describeShape(shape.list.items)})`]),
    ...(shape.values === undefined ? [] : ["key=value"]),
    ...(isObjectShape(shape) ? [`JSON such as ${exampleObject(shape)}`] : []),
    ...(shape.null ? ["null"] : []),
  ];
  const last = parts.pop();
  if (last === undefined) return "nothing";
  return parts.length === 0 ? last : `${parts.join(", ")} or ${last}`;
}

/** The placeholder of an option: `--limit <integer>`. */
export function placeholderOf(shape: Shape): string {
  if (shape.any || isObjectShape(shape))
    return shape.values !== undefined && !shape.any ? "key=value" : "json";
  if (shape.list !== undefined) return shape.list.items.any ? "item" : placeholderOf(shape.list.items);
  if (shape.choices.length > 0 && !shape.text) return "choice";
  if (isFlag(shape)) return "true|false";
  if (shape.text) return FORMATS[shape.format ?? ""] === undefined ? "text" : (shape.format ?? "text");
  return shape.number ?? "value";
}

/** The remarks that follow the description in help. */
export function remarksOn(
  shape: Shape,
  isRequired: boolean,
  { setBy, unlessSetBy }: { setBy?: string | undefined; unlessSetBy?: string | undefined } = {},
): string {
  const choices = choicesOf(shape);
  const required = unlessSetBy === undefined ? "required" : `required, unless <${unlessSetBy}> sets it`;
  const remarks = [
    ...(isRequired ? [required] : []),
    ...(setBy === undefined ? [] : [`instead of <${setBy}>`]),
    ...(choices.length === 0 ? [] : [`choices: ${choices.join(", ")}`]),
    ...(shape.list === undefined ? [] : ["repeat it, or JSON"]),
    ...(shape.values === undefined || shape.any ? [] : ["repeat it, or JSON"]),
    ...(shape.null ? ["null for none"] : []),
    ...(shape.default === undefined ? [] : [`default: ${shownDefault(shape.default)}`]),
  ];
  return remarks.length === 0 ? "" : `(${[...new Set(remarks)].join("; ")})`;
}

function choicesOf({ choices, list }: Shape): string[] {
  const all = choices.length > 0 ? choices : (list?.items.choices ?? []);
  return all.filter((choice) => choice !== null).map(String);
}

function shownDefault(value: unknown): string {
  return typeof value === "string" && /^[\w./:-]+$/.test(value) ? value : JSON.stringify(value);
}

function exampleObject(shape: Shape): string {
  const names = [...(shape.fields?.keys() ?? ["key"])].slice(0, 2);
  return `{${names.map((name) => `${JSON.stringify(name)}: …`).join(", ")}}`;
}

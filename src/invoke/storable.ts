/**
 * The parts of a call that may be stored, and shown to others than its caller. Applies `redact`, and the digest rule for the
 * content of `write` and `edit`, to inputs and outputs.
 */
import type { JsonSchema } from "../definition/json-schema.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { describeInput } from "./content-digest.ts";
import { HostValue } from "../util/encode.ts";
import { holdsMark, markOf, mask } from "./redact.ts";
import { createScrubber, secretsOf } from "./scrub.ts";

/** Replaces an invalid input of `write` and `edit`: its content may be anywhere in it. */
export const LEFT_OUT = "(left out)";

/** Whether a part of its inputs or outputs must not be stored. */
export function hidesSomething(spec: ToolSpec): boolean {
  return hidesInput(spec) || spec.redactOutput.length > 0;
}

export function hidesInput(spec: ToolSpec): boolean {
  return spec.redactInput.length > 0 || spec.digestInput !== undefined;
}

/** Whether these are arguments as they are logged, and not as they were sent. */
export function isRedactedInput(spec: ToolSpec, args: unknown): boolean {
  if (args === LEFT_OUT) return true;
  if (spec.digestInput !== undefined && isRecord(args)) return !Object.hasOwn(args, spec.digestInput);
  return hidesInput(spec) && holdsMark(JSON.stringify(args) ?? "");
}

/** @param parsed the parsed arguments; `undefined` if they do not match the schema: then everything is hidden */
export function storableInput(
  spec: ToolSpec,
  args: unknown,
  secret: string,
  parsed: { readonly data: unknown } | undefined,
): unknown {
  if (spec.digestInput !== undefined) {
    return parsed === undefined ? LEFT_OUT : describeInput(spec.digestInput, parsed.data);
  }
  if (spec.redactInput.length === 0) return args;
  if (parsed === undefined) return markOf(args, secret);
  const declared: Declared = {
    schema: spec.inputJsonSchema,
    paths: spec.redactInput.map((path) => path.split(".")),
  };
  const known = hideUnknown(args, parsed.data, declared, (value) => markOf(value, secret));
  return mask(known, spec.redactInput, secret);
}

/** The same for arguments that are not parsed yet. If the schema is asynchronous, everything is hidden. */
export function storableUnparsedInput(spec: ToolSpec, args: unknown, secret: string): unknown {
  return hidesInput(spec) ? storableInput(spec, args, secret, parsedBy(spec, args)) : args;
}

function parsedBy({ schema }: ToolSpec, args: unknown): { readonly data: unknown } | undefined {
  try {
    const parsed = schema.safeParse(args);
    return parsed.success ? { data: parsed.data } : undefined;
  } catch {
    // An asynchronous refinement, or one that throws.
    return undefined;
  }
}

/** The declared fields of one value: their schema, and the remaining redacted paths. */
interface Declared {
  readonly schema: JsonSchema | undefined;
  readonly paths: readonly (readonly string[])[];
}

/** A field that the schema drops, or accepts without declaring it, may be misspelt and contain the secret. */
function hideUnknown(
  sent: unknown,
  parsed: unknown,
  declared: Declared,
  hide: (value: unknown) => unknown,
): unknown {
  if (Array.isArray(sent)) {
    if (!Array.isArray(parsed) || sent.length !== parsed.length) return sent;
    const ofItem = {
      schema: childOf(declared.schema, "items"),
      // A path reaches the items of a list with `*` and without.
      paths: declared.paths.flatMap((path) => (path[0] === "*" ? [path, path.slice(1)] : [path])),
    };
    return sent.map((item, index) => hideUnknown(item, parsed[index], ofItem, hide));
  }
  if (!isRecord(sent) || !isRecord(parsed)) return sent;
  return Object.fromEntries(
    Object.entries(sent).map(([name, item]) => [
      name,
      Object.hasOwn(parsed, name) && isDeclared(name, declared)
        ? hideUnknown(item, parsed[name], fieldOf(name, declared), hide)
        : hide(item),
    ]),
  );
}

/** A loose object accepts any field. Those that it does not declare, and that no path names, are unknown to the tool. */
function isDeclared(name: string, { schema, paths }: Declared): boolean {
  if (schema === undefined || childOf(childOf(schema, "properties"), name) !== undefined) return true;
  const rest = schema["additionalProperties"];
  const isLoose = rest === true || (isRecord(rest) && Object.keys(rest).length === 0);
  // The names of a record are data.
  if (!isLoose || schema["propertyNames"] !== undefined) return true;
  return paths.some(([first]) => first === name || first === "*");
}

function fieldOf(name: string, { schema, paths }: Declared): Declared {
  return {
    schema: childOf(childOf(schema, "properties"), name),
    paths: paths.filter(([first]) => first === name || first === "*").map(([, ...rest]) => rest),
  };
}

function childOf(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  const child = schema?.[name];
  return isRecord(child) ? child : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** @param args as sent: an output that repeats a hidden argument must not put it into the log */
export function storableOutput(spec: ToolSpec, args: unknown, output: unknown, secret: string): unknown {
  // The paths describe an output of the tool. An object of the enclosing loop is hidden as a whole.
  if (HostValue.is(output)) return spec.redactOutput.length === 0 ? output : markOf(output, secret);
  const masked = spec.redactOutput.length === 0 ? output : mask(output, spec.redactOutput, secret);
  if (spec.redactInput.length === 0) return masked;
  // `null`: here, only values that a path names are secret, even if the arguments are invalid.
  const secrets = secretsOf({ spec, args, input: null });
  if (secrets.size === 0) return masked;
  const long = [...secrets].filter((text) => text.length >= SHORTEST_INSIDE);
  const scrub = createScrubber({
    spec: { ...spec, redactInput: ["*"], redactOutput: [] },
    args: long,
    input: null,
  });
  return mapTexts(masked, (value) =>
    secrets.has(String(value)) ? markOf(value, secret) : typeof value === "string" ? scrub(value) : value,
  );
}

/** A shorter secret, such as an amount, occurs in many other texts. */
const SHORTEST_INSIDE = 8;

function mapTexts(value: unknown, change: (leaf: string | number | bigint) => unknown): unknown {
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint")
    return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (value instanceof Map)
    return new Map([...value].map(([key, item]) => [mapTexts(key, change), mapTexts(item, change)]));
  if (value instanceof Set) return new Set([...value].map((item) => mapTexts(item, change)));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, change)]));
}

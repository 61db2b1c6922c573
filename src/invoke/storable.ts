/**
 * What of a call may be stored, and shown to others than its caller: the one place that applies `redact`, and the rule for
 * the content of `write` and `edit`, to inputs and outputs.
 */
import type { ToolSpec } from "../definition/tool-spec.ts";
import { describeInput } from "../util/content-digest.ts";
import { HostValue } from "../util/encode.ts";
import { markOf, mask } from "./redact.ts";
import { createScrubber, secretsOf } from "./scrub.ts";

/** Stands for the input of `write` and the like where it does not fit the tool: nobody knows where the content is. */
export const LEFT_OUT = "(left out)";

/** Whether something of its inputs or outputs must not be stored. */
export function hidesSomething(spec: ToolSpec): boolean {
  return hidesInput(spec) || spec.redactOutput.length > 0;
}

export function hidesInput(spec: ToolSpec): boolean {
  return spec.redactInput.length > 0 || spec.digestInput !== undefined;
}

/** @param parsed what the schema made of the arguments; `undefined` where they do not fit it: then all of it is hidden */
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
  const known = hideUnknown(args, parsed.data, (value) => markOf(value, secret));
  return mask(known, spec.redactInput, secret);
}

/** The same for those who have not parsed it. A schema that cannot be asked at once counts as one that it does not fit. */
export function keptInput(spec: ToolSpec, args: unknown, secret: string): unknown {
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

/** A field that the schema dropped may be a misspelt one, with the secret in it. */
function hideUnknown(sent: unknown, parsed: unknown, hide: (value: unknown) => unknown): unknown {
  if (sent === parsed || !isRecord(sent) || !isRecord(parsed)) {
    if (!Array.isArray(sent) || !Array.isArray(parsed) || sent.length !== parsed.length) return sent;
    return sent.map((item, index) => hideUnknown(item, parsed[index], hide));
  }
  return Object.fromEntries(
    Object.entries(sent).map(([name, item]) => [
      name,
      Object.hasOwn(parsed, name) ? hideUnknown(item, parsed[name], hide) : hide(item),
    ]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** @param args as sent: an output that repeats a hidden argument must not bring it into the log */
export function storableOutput(spec: ToolSpec, args: unknown, output: unknown, secret: string): unknown {
  // The paths describe an output of the tool, not an object of the loop around it: all of that is hidden.
  if (HostValue.is(output)) return spec.redactOutput.length === 0 ? output : markOf(output, secret);
  const masked = spec.redactOutput.length === 0 ? output : mask(output, spec.redactOutput, secret);
  if (spec.redactInput.length === 0) return masked;
  // `null`: what is not named by a path is no secret here, whether the arguments fit or not.
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

/** A shorter one, such as an amount, is a part of many other texts. */
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

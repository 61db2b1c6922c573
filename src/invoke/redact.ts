/**
 * Values that must not be stored: replaced by a mark with a keyed hash, which tells equal values from different ones
 * and cannot be guessed without the store's own secret.
 */
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import { canonicalText, type CanonicalVersion } from "../util/canonical.ts";
import { HostValue } from "../util/encode.ts";
import { keyedHash } from "../util/hash.ts";

const MARK = /\[redacted sha256:[A-Za-z0-9_-]{43}\]/;

/** Models send a text where an object is expected: nobody knows where in it the secret is, so all of it goes. */
export function maskInput(
  spec: ToolSpec,
  args: unknown,
  secret: string,
  version?: CanonicalVersion,
): unknown {
  return spec.redactInput.reduce(
    (current, path) =>
      replaceAt(
        current,
        path.split("."),
        (found) => markOf(found, secret, version),
        (misfit) => markOf(misfit, secret, version),
      ),
    args,
  );
}

export function maskOutput(spec: ToolSpec, output: unknown, secret: string): unknown {
  // The paths describe an output of the tool, not an object of the loop around it: all of that is hidden.
  if (spec.redactOutput.length > 0 && HostValue.is(output)) return markOf(output, secret);
  return spec.redactOutput.length === 0 ? output : mask(output, spec.redactOutput, secret);
}

/** A copy in which the value at each dotted path is a mark. `*` stands for every item or field. */
export function mask(value: unknown, paths: readonly string[], secret: string): unknown {
  return paths.reduce(
    (current, path) => replaceAt(current, path.split("."), (found) => markOf(found, secret)),
    value,
  );
}

function markOf(value: unknown, secret: string, version?: CanonicalVersion): unknown {
  if (value === undefined) return undefined;
  if (typeof value === "string" && MARK.test(value)) return value;
  return `[redacted sha256:${keyedHash(secret, canonicalText(value, version))}]`;
}

type Replace = (found: unknown) => unknown;

/**
 * Copies the way down to the place; maps and instances become what they are written as.
 * @param misfit for a text or a number that stands where the way would go on
 */
function replaceAt(
  value: unknown,
  path: readonly string[],
  replace: Replace,
  misfit: Replace = (found) => found,
): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return replace(value);
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint")
    return misfit(value);
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array)
    return value;
  const step = (key: unknown, item: unknown): unknown =>
    name === "*" || name === String(key) ? replaceAt(item, rest, replace, misfit) : item;
  if (Array.isArray(value)) {
    // A field's name means that field of every item: a secret must not be kept because a list was not thought of.
    const isPlace = name === "*" || /^\d+$/.test(name);
    return value.map((item, index) => (isPlace ? step(index, item) : replaceAt(item, path, replace, misfit)));
  }
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, step(key, item)]));
  if (value instanceof Set) return new Set([...value].map((item) => step("*", item)));
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    if (json !== value) return replaceAt(json, path, replace, misfit);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, step(key, item)]));
}

export function holdsMark(text: string): boolean {
  return MARK.test(text);
}

/** A model that copies a mark from a log would act on the mark's text. */
export function markError(toolName: string, args: unknown): ToolwrightError {
  const place = findMark(args, "") ?? "";
  return new ToolwrightError(
    "TOOL_INPUT_REDACTED",
    `Tool "${toolName}": ${place === "" ? "the input" : place} holds a redaction mark, not a value.`,
    { details: { tool: toolName, field: place }, effect: "none" },
  );
}

function findMark(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return MARK.test(value) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const found = findMark(item, path === "" ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** In arguments that a person edited, a mark means the original value. */
export function unmask(edited: unknown, original: unknown): unknown {
  if (typeof edited === "string") return MARK.test(edited) ? original : edited;
  if (typeof edited !== "object" || edited === null) return edited;
  const source =
    typeof original === "object" && original !== null ? (original as Record<string, unknown>) : {};
  if (Array.isArray(edited)) return edited.map((item, index) => unmask(item, source[index]));
  if (Object.getPrototypeOf(edited) !== Object.prototype) return edited;
  return Object.fromEntries(Object.entries(edited).map(([name, item]) => [name, unmask(item, source[name])]));
}

/**
 * Takes the redacted values of a call out of a text, for example out of a service's error message.
 * @param values the arguments in each form that the tool may have seen: as sent, and parsed
 */
export function createScrubber(spec: ToolSpec, ...values: readonly unknown[]): (text: string) => string {
  if (spec.redactInput.length === 0) return (text) => text;
  const spellings = new Set<string>();
  const note = (found: unknown): unknown => {
    addSpellings(found, spellings);
    return found;
  };
  for (const value of values) {
    for (const path of spec.redactInput) {
      try {
        replaceAt(value, path.split("."), note, note);
      } catch {
        // It cannot be read, so the call is refused, and no text can hold what is in there.
      }
    }
  }
  const longestFirst = [...spellings].sort((one, other) => other.length - one.length);
  return (text) => longestFirst.reduce((clean, spelling) => clean.replaceAll(spelling, "[redacted]"), text);
}

const SHORTEST_SECRET = 3;

/** Not by recursion: what is to be scrubbed may be too deep for that. */
function addSpellings(secret: unknown, spellings: Set<string>): void {
  const left = [secret];
  const seen = new Set<unknown>();
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
      const leaf = String(value);
      if (leaf.length < SHORTEST_SECRET) continue;
      // As it is, and as it stands in JSON inside a text, once and twice over.
      const once = JSON.stringify(leaf).slice(1, -1);
      for (const spelling of [leaf, once, JSON.stringify(once).slice(1, -1)]) spellings.add(spelling);
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      if (value instanceof Map) left.push(...value.keys(), ...value.values());
      else left.push(...(value instanceof Set ? value : Object.values(value)));
    }
  }
}

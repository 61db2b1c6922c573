/**
 * Values that must not be stored: replaced by a mark with a keyed hash, which tells equal values from different ones
 * and cannot be guessed without the store's own secret.
 */
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import { canonicalText, type CanonicalVersion } from "../util/canonical.ts";
import { keyedHash } from "../util/hash.ts";

const MARK = /\[redacted sha256:[A-Za-z0-9_-]{43}\]/;
const WHOLE_MARK = new RegExp(`^${MARK.source}$`);

/**
 * The input as it stands in the key of a call. This is a format: what is stored and shown is made by `storableInput`,
 * which hides more.
 */
export function maskForKey(
  spec: ToolSpec,
  args: unknown,
  secret: string,
  version?: CanonicalVersion,
): unknown {
  const mark = (found: unknown): unknown =>
    typeof found === "string" && MARK.test(found) ? found : markOf(found, secret, version);
  return spec.redactInput.reduce(
    (current, path) => replaceAt(current, path.split("."), { found: mark, misfit: mark, isKey: true }),
    args,
  );
}

/** A copy in which the value at each dotted path is a mark. `*` stands for every item or field. */
export function mask(value: unknown, paths: readonly string[], secret: string): unknown {
  const mark = (found: unknown): unknown => markOf(found, secret);
  return paths.reduce(
    (current, path) => replaceAt(current, path.split("."), { found: mark, misfit: mark }),
    value,
  );
}

/** A mark stays as it is. A text that only contains one is a value like any other. */
export function markOf(value: unknown, secret: string, version?: CanonicalVersion): unknown {
  if (value === undefined) return undefined;
  if (typeof value === "string" && WHOLE_MARK.test(value)) return value;
  return `[redacted sha256:${keyedHash(secret, canonicalText(value, version))}]`;
}

interface Replacing {
  readonly found: (value: unknown) => unknown;
  /** For a text or a number that stands where the path goes on: the secret may be in it. */
  readonly misfit: (value: unknown) => unknown;
  /** By the rules of the key, which know no names with dots. */
  readonly isKey?: boolean;
}

/** Copies the way down to the value; maps and instances become what they are written as. */
export function replaceAt(value: unknown, path: readonly string[], replacing: Replacing): unknown {
  const [name] = path;
  if (name === undefined) return replacing.found(value);
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint")
    return replacing.misfit(value);
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array)
    return value;
  const step = (key: unknown, item: unknown): unknown => {
    const used = namesUsed(String(key), path, replacing);
    return used === 0 ? item : replaceAt(item, path.slice(used), replacing);
  };
  if (Array.isArray(value)) {
    // A field's name means that field of every item: a secret must not be kept because a list was not thought of.
    const isPlace = name === "*" || /^\d+$/.test(name);
    return value.map((item, index) => (isPlace ? step(index, item) : replaceAt(item, path, replacing)));
  }
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, step(key, item)]));
  if (value instanceof Set) return new Set([...value].map((item) => step("*", item)));
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    if (json !== value) return replaceAt(json, path, replacing);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, step(key, item)]));
}

/** How many parts of the path the name of a field stands for: a name with dots stands for several. */
function namesUsed(key: string, path: readonly string[], { isKey }: Replacing): number {
  if (path[0] === "*" || path[0] === key) return 1;
  if (isKey === true || !key.includes(".")) return 0;
  const count = key.split(".").length;
  return path.slice(0, count).join(".") === key ? count : 0;
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

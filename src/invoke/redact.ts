/**
 * Replaces values that must not be stored by a mark with a keyed hash. Equal values have equal marks, and no value can be
 * guessed from its mark without the store's secret.
 */
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import { canonicalText, type CanonicalVersion } from "../util/canonical.ts";
import { keyedHash } from "../util/hash.ts";

const MARK = /\[redacted sha256:[A-Za-z0-9_-]{43}\]/;
const WHOLE_MARK = new RegExp(`^${MARK.source}$`);

/**
 * The input that the key of a call is derived from. This is a stored format. `storableInput`, which hides more, makes the
 * input that is stored and shown.
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

/** A copy in which the value at each dotted path is a mark. `*` matches every item or field. */
export function mask(value: unknown, paths: readonly string[], secret: string): unknown {
  const mark = (found: unknown): unknown => markOf(found, secret);
  return paths.reduce(
    (current, path) => replaceAt(current, path.split("."), { found: mark, misfit: mark }),
    value,
  );
}

/** A mark stays as it is. A text that merely contains one is a value like any other. */
export function markOf(value: unknown, secret: string, version?: CanonicalVersion): unknown {
  if (value === undefined) return undefined;
  if (typeof value === "string" && WHOLE_MARK.test(value)) return value;
  return `[redacted sha256:${keyedHash(secret, canonicalText(value, version))}]`;
}

interface Replacing {
  readonly found: (value: unknown) => unknown;
  /** For a text or a number where the path expects an object: it may contain the secret. */
  readonly misfit: (value: unknown) => unknown;
  /** By the rules of keys, in which a field name has no dots. */
  readonly isKey?: boolean;
}

/** Copies the objects along the path. An instance with `toJSON` is replaced by its JSON. */
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
    // A field name applies to every item: a path that ignores a list must still hide the secret.
    const isIndex = name === "*" || /^\d+$/.test(name);
    return value.map((item, index) => (isIndex ? step(index, item) : replaceAt(item, path, replacing)));
  }
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, step(key, item)]));
  if (value instanceof Set) return new Set([...value].map((item) => step("*", item)));
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    if (json !== value) return replaceAt(json, path, replacing);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, step(key, item)]));
}

/** How many parts of the path the field name matches: a name with dots matches several. */
function namesUsed(key: string, path: readonly string[], { isKey }: Replacing): number {
  if (path[0] === "*" || path[0] === key) return 1;
  if (isKey === true || !key.includes(".")) return 0;
  const count = key.split(".").length;
  return path.slice(0, count).join(".") === key ? count : 0;
}

export function holdsMark(text: string): boolean {
  return MARK.test(text);
}

/** Refuses a mark that a model copied from a log: the tool would use the text of the mark. */
export function markError(toolName: string, args: unknown): ToolwrightError {
  const field = findMark(args, "") ?? "";
  return new ToolwrightError(
    "TOOL_INPUT_REDACTED",
    `Tool "${toolName}": ${field === "" ? "the input" : field} contains a redaction mark, not a value.`,
    { details: { tool: toolName, field }, effect: "none" },
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

/** In arguments that an approver edited, a mark means the original value. */
export function unmask(edited: unknown, original: unknown): unknown {
  if (typeof edited === "string") return MARK.test(edited) ? original : edited;
  if (typeof edited !== "object" || edited === null) return edited;
  const source =
    typeof original === "object" && original !== null ? (original as Record<string, unknown>) : {};
  if (Array.isArray(edited)) return edited.map((item, index) => unmask(item, source[index]));
  if (Object.getPrototypeOf(edited) !== Object.prototype) return edited;
  return Object.fromEntries(Object.entries(edited).map(([name, item]) => [name, unmask(item, source[name])]));
}

/** Removes the hidden values of a call from texts, for example from the error message of a service. */
import type { ToolSpec } from "../definition/tool-spec.ts";
import { replaceAt } from "./redact.ts";

/** The fields of a call that contain hidden values. */
export interface HiddenValues {
  readonly spec: ToolSpec;
  /** The arguments as sent. */
  readonly args: unknown;
  /** The parsed arguments; `undefined` if they do not match the schema. */
  readonly input?: unknown;
  readonly output?: unknown;
  /** The output does not match its schema, so its secrets may be anywhere in it. */
  readonly isOutputUnfit?: boolean;
}

export type Scrub = (text: string) => string;

const asIs: Scrub = (text) => text;

export function createScrubber(values: HiddenValues): Scrub {
  const secrets = secretsOf(values);
  if (secrets.size === 0) return asIs;
  const spellings = new Set([...secrets].flatMap(spellingsOf));
  const longestFirst = [...spellings].sort((one, other) => other.length - one.length);
  // Services may change the case of values that they echo.
  const pattern = new RegExp(longestFirst.map(escaped).join("|"), "gi");
  return (text) => text.replaceAll(pattern, "[redacted]");
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** Shorter texts are parts of many words. */
const SHORTEST_SECRET = 3;
/** For values that no path names. */
const SHORTEST_UNNAMED = 6;

/** The hidden strings and numbers of a call, as strings. */
export function secretsOf({ spec, args, input, output, isOutputUnfit }: HiddenValues): Set<string> {
  const secrets = new Set<string>();
  if (spec.redactInput.length > 0) {
    for (const value of [args, input]) addAtPaths(value, spec.redactInput, secrets);
    if (input === undefined) addLeaves(args, secrets, SHORTEST_UNNAMED);
  }
  if (spec.redactOutput.length > 0) {
    addAtPaths(output, spec.redactOutput, secrets);
    if (isOutputUnfit === true) addLeaves(output, secrets, SHORTEST_UNNAMED);
  }
  return secrets;
}

function addAtPaths(value: unknown, paths: readonly string[], secrets: Set<string>): void {
  const note = (found: unknown): unknown => {
    addLeaves(found, secrets, SHORTEST_SECRET);
    return found;
  };
  for (const path of paths) {
    try {
      replaceAt(value, path.split("."), { found: note, misfit: note });
    } catch {
      // The value cannot be read, so the call is refused, and no text can contain the secret.
    }
  }
}

/** Without recursion: the value may be nested too deeply for that. */
function addLeaves(secret: unknown, secrets: Set<string>, shortest: number): void {
  const left = [secret];
  const seen = new Set<unknown>();
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
      const leaf = String(value);
      if (leaf.length >= shortest) secrets.add(leaf);
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      left.push(...partsOf(value));
    }
  }
}

function partsOf(value: object): unknown[] {
  try {
    if (value instanceof Map) return [...value.keys(), ...(value.values() as Iterable<unknown>)];
    return [...(value instanceof Set ? (value as Iterable<unknown>) : Object.values(value))];
  } catch {
    // A getter that throws reveals nothing.
    return [];
  }
}

/** The secret as it is, escaped once and twice as JSON, and encoded as in URLs and headers. */
function spellingsOf(secret: string): string[] {
  const once = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret);
  const url = encodeURIComponent(secret.toWellFormed());
  return [
    secret,
    once,
    JSON.stringify(once).slice(1, -1),
    url,
    url.replaceAll("%20", "+"),
    encodeURI(secret.toWellFormed()),
    // Base64 encodes three bytes as four letters: the letters of a shorter secret depend on its neighbours.
    ...(bytes.length < SHORTEST_UNNAMED ? [] : [...base64Spellings(bytes), bytes.toString("hex")]),
  ];
}

/** Inside a longer text the letters depend on the offset, and those at the ends on the neighbours. */
function base64Spellings(bytes: Buffer): string[] {
  const whole = [bytes.toString("base64"), bytes.toString("base64url")];
  const inside = [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((padded.length * 8) / 6);
    return (["base64", "base64url"] as const).map((encoding) => padded.toString(encoding).slice(first, last));
  });
  return [...whole, ...inside];
}

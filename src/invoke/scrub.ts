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
  const long = longestFirst.filter(({ length }) => length > LONGEST_IN_PATTERN);
  // Services may change the case of values that they echo.
  const patterns = inGroups(longestFirst.slice(long.length)).map(
    (group) => new RegExp(group.map(escaped).join("|"), "gi"),
  );
  const mixed = [...secrets].flatMap((secret) =>
    secret.length > LONGEST_IN_PATTERN ? [] : [new RegExp(partlyEncoded(secret), "gi")],
  );
  return (text) =>
    [...long, ...patterns, ...mixed].reduce<string>(
      (clean, each) => clean.replaceAll(each, "[redacted]"),
      text,
    );
}

/** A pattern that is too large for V8 throws an error, which would contain the secret. */
const LONGEST_IN_PATTERN = 1_024;
const LARGEST_PATTERN = 32_768;

function inGroups(spellings: readonly string[]): string[][] {
  const groups: string[][] = [];
  let size = Infinity;
  for (const spelling of spellings) {
    if (size + spelling.length > LARGEST_PATTERN) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(spelling);
    size += spelling.length;
  }
  return groups;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** Programs disagree on which characters of a URL to encode: each may be encoded or not. */
function partlyEncoded(secret: string): string {
  return escaped(secret).replaceAll(/\\?([ -/:-@[-`{-~])/g, (plain, character: string) => {
    const code = character.charCodeAt(0).toString(16).padStart(2, "0");
    return `(?:${plain}|%${code})`;
  });
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
      // One by one: a long list would exceed the limit for arguments.
      for (const part of partsOf(value)) left.push(part);
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

/** Shorter lines of a secret, such as the ends of a key, are parts of many texts. */
const SHORTEST_LINE = 8;

/** Longer values are contents rather than keys: their lines are ordinary text. */
const LONGEST_KEY = 8_192;

/** Services trim the secrets that they echo, and quote single lines of them. */
function spellingsOf(secret: string): string[] {
  if (secret.length > LONGEST_KEY) return spellingsOfPart(secret, COMMON_QUOTES);
  const lines = secret.split(/[\r\n]+/).filter((line) => line.length >= SHORTEST_LINE);
  const parts = [secret.trim(), ...lines].filter((part) => part.length >= SHORTEST_SECRET);
  return [...new Set([secret, ...parts])].flatMap((part) => spellingsOfPart(part, QUOTES));
}

/** The text as it is, as other programs quote it, and encoded as in URLs and headers. */
function spellingsOfPart(part: string, quotes: typeof QUOTES): string[] {
  const bytes = Buffer.from(part);
  // Letters with accents have several forms, and some programs print the bytes of UTF-8 one by one.
  const composed = new Set([part, part.normalize("NFC"), part.normalize("NFD"), bytes.toString("latin1")]);
  const quoted = [...composed].flatMap((text) => quotes.map((quote) => quote(text)));
  return [
    ...quoted,
    ...quoted.map((text) => JSON.stringify(text).slice(1, -1)),
    encodeURI(part.toWellFormed()),
    // Base64 encodes three bytes as four letters: the letters of a shorter secret depend on its neighbours.
    ...(bytes.length < SHORTEST_UNNAMED ? [] : [...base64Spellings(bytes), ...byteSpellings(bytes)]),
  ];
}

/** As dumps of bytes show them: a plain number, with spaces (Node) or colons (OpenSSL), and as JSON. */
function byteSpellings(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  const pairs = hex.match(/../g) ?? [];
  return bytes.length > LONGEST_DUMP ? [hex] : [hex, pairs.join(" "), pairs.join(":"), bytes.join(",")];
}

const LONGEST_DUMP = 1_024;

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const asHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
type Quote = (text: string) => string;
const COMMON_QUOTES: readonly Quote[] = [
  (text) => text,
  asJson,
  (text) => encodeURIComponent(text.toWellFormed()),
];
/** As other programs escape a text. Each applies to all of it. */
const QUOTES: readonly Quote[] = [
  ...COMMON_QUOTES,
  // PHP, and Python.
  (text) => asJson(text).replaceAll("/", String.raw`\/`),
  (text) => asJson(text).replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${hexOf(unit, 4)}`),
  // Literals of other languages: with the quotes around them, or without.
  (text) => asJson(text).replaceAll(String.raw`\"`, '"'),
  (text) =>
    asJson(text)
      .replaceAll(String.raw`\"`, '"')
      .replaceAll("'", String.raw`\'`),
  asHtml,
  (text) => asHtml(text).replaceAll("'", "&#39;"),
  (text) => asHtml(text).replaceAll("'", "&#x27;"),
  (text) => asHtml(text).replaceAll("'", "&apos;"),
  (text) => text.replaceAll("'", String.raw`'\''`),
  (text) => encodeURIComponent(text.toWellFormed()).replaceAll("%20", "+"),
  // Forms, and RFC 3986.
  (text) => new URLSearchParams([["", text]]).toString().slice(1),
  (text) => encodeURIComponent(text.toWellFormed()).replaceAll(/[!'()*]/g, (mark) => `%${hexOf(mark, 2)}`),
  // An address as a parameter of another address.
  (text) => encodeURIComponent(encodeURIComponent(text.toWellFormed())),
];

function hexOf(unit: string, digits: number): string {
  return unit.charCodeAt(0).toString(16).padStart(digits, "0");
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

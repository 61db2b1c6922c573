/** Which fields a positional of the form `{ name, parse }` sets. Only `parse` knows, so it is tried on sample texts. */
import type { ParsedPositional } from "../../definition/tool-options.ts";

/** The name comes first: it is often an example, such as `drive:/path`. */
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

/** For help only, so it must never fail. @returns `undefined` where no sample could be parsed */
export function fieldsSetBy({ name, parse }: ParsedPositional): ReadonlySet<string> | undefined {
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
    // The text is not of the form that this one takes.
    return [];
  }
}

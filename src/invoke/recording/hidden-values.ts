/**
 * Finds what a tool hides by comparing two forms of a value: as the model wrote it, and as it is logged. So no definition of
 * the tool is needed, and any process can redact a recording.
 */
import { holdsMark } from "../redact.ts";
import { isContentDigest } from "../content-digest.ts";
import { LEFT_OUT } from "../storable.ts";

/** The texts and numbers that are hidden, with the mark that replaces each, if there is one. */
export class HiddenValues {
  readonly marks: Map<string, string> = new Map();

  get isEmpty(): boolean {
    return this.marks.size === 0;
  }

  /** @param mark of the value, where it is known */
  add(value: unknown, mark?: string): void {
    const left = [value];
    while (left.length > 0) {
      const next = left.pop();
      if (typeof next === "string" || typeof next === "number" || typeof next === "bigint") {
        const text = String(next);
        // Shorter texts are parts of many words.
        if (text.length >= SHORTEST) this.marks.set(text, next === value ? (mark ?? SCRUBBED) : SCRUBBED);
      } else if (typeof next === "object" && next !== null) {
        // One by one: a long list would exceed the limit for arguments.
        for (const item of Object.values(next)) left.push(item);
      }
    }
  }
}

const SHORTEST = 3;
/** Replaces a hidden value that has no mark of its own. */
export const SCRUBBED = "[redacted]";

/** A value that stands for a hidden one. */
export function isHidden(value: unknown): value is string {
  return typeof value === "string" && (value === LEFT_OUT || holdsMark(value));
}

/**
 * @param clear as the model wrote it, or read it
 * @param logged the same value in the log
 * @param isWhole a field that the log lacks is hidden: true for inputs, whose logged form has all other fields
 * @returns the logged form where something is hidden, else the clear one
 */
export function hide(clear: unknown, logged: unknown, hidden: HiddenValues, isWhole: boolean): unknown {
  if (isHidden(logged)) {
    if (clear !== logged) hidden.add(clear, logged);
    return logged;
  }
  if (Array.isArray(clear) && Array.isArray(logged) && clear.length === logged.length)
    return clear.map((item, index) => hide(item, logged[index], hidden, isWhole));
  if (!isRecord(clear) || !isRecord(logged)) return clear;
  const shown: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(clear)) {
    if (Object.hasOwn(logged, name)) shown[name] = hide(item, logged[name], hidden, isWhole);
    else if (isWhole) hidden.add(item);
    else shown[name] = item;
  }
  if (isWhole && Object.keys(shown).length < Object.keys(clear).length) return { ...logged, ...shown };
  return shown;
}

/** Whether the logged value may belong to the clear one: they differ only where the log hides something. */
export function mayBe(clear: unknown, logged: unknown): boolean {
  if (isHidden(logged)) return true;
  if (Array.isArray(clear) && Array.isArray(logged))
    return clear.length === logged.length && clear.every((item, index) => mayBe(item, logged[index]));
  if (!isRecord(clear) || !isRecord(logged)) return Object.is(clear, logged);
  const isDigest = isContentDigest(logged);
  return Object.entries(logged).every(([name, item]) =>
    Object.hasOwn(clear, name) ? mayBe(clear[name], item) : isDigest && DIGEST.has(name),
  );
}

const DIGEST = new Set(["bytes", "sha256"]);

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof Date)
  );
}

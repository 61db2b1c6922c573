/**
 * The canonical text of a value, independent of the order of its keys: the base of every key and hash. A `Date` differs
 * from its ISO string, `1n` from `1`, `undefined` from `null`. A property that is `undefined` equals a missing one, as in
 * JSON and Zod. Never used for storage: it cannot be decoded.
 *
 * Stored keys depend on every character of it. To change it, add a version; released versions never change. See
 * docs/internals/formats.md.
 */
import { asUnencodable, MAX_DEPTH, MAX_HOLES, unbox, UnencodableError } from "./encode.ts";

/** 1: released with 0.1; all errors share one text, and `[ , ]` has the text of `[]`. 2: these values differ. */
export type CanonicalVersion = 1 | 2;

export const CANONICAL_VERSION = 2;

/** @throws UnencodableError */
export function canonicalText(value: unknown, version: CanonicalVersion = CANONICAL_VERSION): string {
  return writeCanonical(value, version).text;
}

export interface Canonical {
  readonly text: string;
  /** Whether version 1 has another text for the value. Only errors, holes, boxed primitives and the like do. */
  readonly dependsOnVersion: boolean;
}

/** @throws UnencodableError */
export function writeCanonical(value: unknown, version: CanonicalVersion = CANONICAL_VERSION): Canonical {
  const writer = new Writer(version);
  try {
    return { text: writer.write(value), dependsOnVersion: writer.dependsOnVersion };
  } catch (error) {
    throw asUnencodable("", error);
  }
}

class Writer {
  /** Set when the text differs from version 1. */
  dependsOnVersion = false;
  readonly #version: CanonicalVersion;
  readonly #above: object[] = [];

  constructor(version: CanonicalVersion) {
    this.#version = version;
  }

  write(value: unknown): string {
    switch (typeof value) {
      case "string":
        return JSON.stringify(value);
      case "number":
        return Object.is(value, -0) ? "0" : String(value);
      case "boolean":
        return value ? "true" : "false";
      case "undefined":
        return "undefined";
      case "bigint":
        return `${value}n`;
      case "object":
        return value === null ? "null" : this.#object(value);
      default:
        throw new UnencodableError("", `contains a ${typeof value}, which cannot be an argument`);
    }
  }

  #object(value: object): string {
    const isPlain = Object.getPrototypeOf(value) === Object.prototype;
    if (!isPlain && value instanceof Date) return `date(${value.getTime()})`;
    if (!isPlain && value instanceof Uint8Array) return `bytes(${Buffer.from(value).toString("base64")})`;
    const above = this.#above;
    if (above.includes(value)) throw new UnencodableError("", "contains a circular reference");
    if (above.length >= MAX_DEPTH) throw new UnencodableError("", "is nested too deeply");
    above.push(value);
    const text = this.#container(value, isPlain);
    above.pop();
    return text;
  }

  #container(value: object, isPlain: boolean): string {
    if (Array.isArray(value)) return `[${this.#items(value).join(",")}]`;
    const special = isPlain ? undefined : this.#special(value);
    if (special !== undefined) return special;
    if ("toJSON" in value && typeof value.toJSON === "function") {
      const json: unknown = value.toJSON();
      if (json !== value) return this.write(json);
    }
    return this.#record(value as Record<string, unknown>);
  }

  #items(items: readonly unknown[]): string[] {
    // In version 1 a hole is an empty text, so `[ , ]` has the text of `[]`.
    if (this.#version === 1) return items.map((item) => this.write(item));
    const texts: string[] = [];
    let holes = 0;
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index];
      const isHole = item === undefined && !(index in items);
      if (isHole && (holes += 1) > MAX_HOLES) throw new UnencodableError("", "contains a sparse array");
      texts.push(isHole ? "hole" : this.write(item));
    }
    if (holes > 0) this.dependsOnVersion = true;
    return texts;
  }

  /** Objects whose data is not in their own properties. */
  #special(value: object): string | undefined {
    if (value instanceof Map) {
      const entries = [...value].map(([key, item]) => `${this.write(key)}=>${this.write(item)}`);
      return `map(${entries.sort().join(",")})`;
    }
    if (value instanceof Set) {
      const items = [...value].map((item) => this.write(item));
      return `set(${items.sort().join(",")})`;
    }
    const text = this.#version === 1 ? undefined : this.#specialSince2(value);
    if (text !== undefined) this.dependsOnVersion = true;
    return text;
  }

  /** Version 1 writes the own properties of these objects. */
  #specialSince2(value: object): string | undefined {
    if (value instanceof Error) return `error(${this.#record(this.#fieldsOf(value))})`;
    if (value instanceof RegExp) return `regexp(${JSON.stringify(String(value))})`;
    if (ArrayBuffer.isView(value)) {
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return `${Object.prototype.toString.call(value)}(${bytes.toString("base64")})`;
    }
    if (value instanceof ArrayBuffer) return `ArrayBuffer(${Buffer.from(value).toString("base64")})`;
    const primitive = unbox(value);
    return primitive === value ? undefined : this.write(primitive);
  }

  #record(record: Record<string, unknown>): string {
    let text = "";
    for (const name of sortedNames(record)) {
      const item = record[name];
      if (item === undefined) continue;
      text += text === "" ? "{" : ",";
      text += quoted(name);
      text += this.write(item);
    }
    return text === "" ? "{}" : `${text}}`;
  }

  /** Leaves out the stack, which differs between processes, and fields that refer to other objects. */
  #fieldsOf(error: Error): Record<string, unknown> {
    const simple = Object.entries(error).filter(([, item]) => SIMPLE.has(typeof item));
    const { name, message, cause } = error;
    const isNewCause = cause instanceof Error && !this.#above.includes(cause);
    return {
      ...Object.fromEntries(simple),
      name,
      message,
      cause: isNewCause ? cause : undefined,
    };
  }
}

/** Sorted by code units. Insertion sort for short lists: `sort` allocates more than most arguments need. */
function sortedNames(record: object): string[] {
  const names = Object.keys(record);
  if (names.length > FEW_NAMES) return names.sort();
  for (let end = 1; end < names.length; end += 1) {
    const name = names[end] ?? "";
    let index = end;
    for (; index > 0 && (names[index - 1] ?? "") > name; index -= 1) names[index] = names[index - 1] ?? "";
    names[index] = name;
  }
  return names;
}

const FEW_NAMES = 12;

/** `"name":`. The names of fields repeat, so the texts of the first ones are kept. */
function quoted(name: string): string {
  const known = QUOTED.get(name);
  if (known !== undefined) return known;
  const text = `${JSON.stringify(name)}:`;
  if (QUOTED.size < MOST_QUOTED && name.length <= LONGEST_QUOTED) QUOTED.set(name, text);
  return text;
}

const QUOTED = new Map<string, string>();
const MOST_QUOTED = 500;
const LONGEST_QUOTED = 40;

const SIMPLE = new Set(["string", "number", "boolean", "bigint"]);

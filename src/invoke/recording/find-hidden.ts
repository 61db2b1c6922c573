/**
 * Finds values of a run that its log hides, such as an argument that came from the input of the workflow. The keyed hash in a
 * mark, and the digest of a content, tell which value they stand for.
 */
import { sha256Hex } from "../../util/hash.ts";
import { markOf } from "../redact.ts";
import { marksIn } from "../replay/compare.ts";
import { SCRUBBED } from "./hidden-values.ts";

export interface FoundValue {
  readonly value: unknown;
  /** Replaces it. */
  readonly mark: string;
}

const DIGESTS = /"sha256":"([0-9a-f]{64})"/g;

/** @param logged inputs and outputs of calls as they are logged, in JSON @param secret of the store */
export function findHidden(
  values: readonly unknown[],
  logged: readonly (string | null)[],
  secret: string,
): FoundValue[] {
  const texts = logged.filter((json) => json !== null);
  const marks = new Set(texts.flatMap(marksIn));
  const digests = new Set(texts.flatMap((json) => [...json.matchAll(DIGESTS)].map(([, hex]) => hex)));
  if (marks.size === 0 && digests.size === 0) return [];
  const found: FoundValue[] = [];
  const left = [...values];
  while (left.length > 0) {
    const value = left.pop();
    if (value === null || value === undefined || typeof value === "boolean") continue;
    const mark = marks.size === 0 ? undefined : markOf(value, secret);
    // It is hidden already.
    if (mark === value) continue;
    if (typeof mark === "string" && marks.has(mark)) found.push({ value, mark });
    else if (typeof value === "string") {
      if (digests.has(sha256Hex(value))) found.push({ value, mark: SCRUBBED });
    } else if (value instanceof Map) for (const entry of value) left.push(...entry);
    // One by one: a long list would exceed the limit for arguments.
    else if (value instanceof Set) for (const item of value) left.push(item);
    else if (typeof value === "object") for (const item of Object.values(value)) left.push(item);
  }
  return found;
}

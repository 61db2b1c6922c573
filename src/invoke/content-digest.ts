/** Describes content in the log by its size and digest. The content itself is never logged. */
import { sha256Hex } from "../util/hash.ts";

export function describeContent(content: string): { bytes: number; sha256: string } {
  return { bytes: Buffer.byteLength(content), sha256: sha256Hex(content) };
}

/** Whether an input is one whose content was replaced. */
export function isContentDigest(value: object): boolean {
  const { bytes, sha256 } = value as Readonly<Record<string, unknown>>;
  return typeof bytes === "number" && typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
}

/** Replaces a field of a parsed input that is too large for the log by its description. */
export function describeInput(field: string, input: unknown): unknown {
  const { [field]: content, ...rest } = input as Readonly<Record<string, string>>;
  return { ...rest, ...describeContent(content ?? "") };
}

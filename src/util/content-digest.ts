/** How content stands in the log: how much of it there was, and which. Never the content itself. */
import { sha256Hex } from "./hash.ts";

export function describeContent(content: string): { bytes: number; sha256: string } {
  return { bytes: Buffer.byteLength(content), sha256: sha256Hex(content) };
}

/** An input that was parsed, with a field that is too much for the log. */
export function describeInput(field: string, input: unknown): unknown {
  const { [field]: content, ...rest } = input as Readonly<Record<string, string>>;
  return { ...rest, ...describeContent(content ?? "") };
}

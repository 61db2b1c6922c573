/** How content stands in the log: how much of it there was, and which. Never the content itself. */
import { sha256Hex } from "../util/hash.ts";

export function describeContent(content: string): { bytes: number; sha256: string } {
  return { bytes: Buffer.byteLength(content), sha256: sha256Hex(content) };
}

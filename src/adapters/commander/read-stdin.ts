/** All of stdin, as it is. */
import { UsageError } from "./usage-error.ts";

export async function readStdin(label: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    // Half a character would be changed in silence.
    throw new UsageError(`${label} takes text, and what stdin holds is not UTF-8.`);
  }
}

/**
 * The text that the key of a call is derived from: the tool and its arguments. Scopes of version 0.1 keep its derivation,
 * in which some different arguments share a text and are counted together.
 */
import { callText, type KeyVersion, textOfTool } from "../definition/call-key.ts";
import { type Canonical, writeCanonical } from "../util/canonical.ts";

/** The identity of a call by version 1 of the key derivation. */
export interface LegacyIdentity {
  readonly text: string;
  readonly argsText: string;
  readonly callIndex: number | string;
}

export function writeArguments(toolName: string, args: unknown): Canonical {
  try {
    const written = writeCanonical(args);
    return { ...written, text: textOfTool(toolName, written.text) };
  } catch {
    return { text: unwritable(toolName), dependsOnVersion: true };
  }
}

/** @param args throws if the arguments cannot be read */
export function textOfArguments(toolName: string, args: () => unknown, version?: KeyVersion): string {
  try {
    return callText(toolName, args(), version);
  } catch {
    return unwritable(toolName);
  }
}

/** Validation refuses arguments that have no canonical text. Until then they count as equal. */
function unwritable(toolName: string): string {
  return callText(toolName, "unencodable");
}

/**
 * Counted alongside the current identity until the store says which version the scope uses.
 * @param assignIndex counts the calls with the same text
 */
export function identifyByVersion1(
  toolName: string,
  args: unknown,
  written: Canonical,
  assignIndex: (text: string) => number | string,
): LegacyIdentity {
  const text = written.dependsOnVersion ? textOfArguments(toolName, () => args, 1) : written.text;
  // Other texts start with a quote, so the two identities never share a count.
  const argsText = `v1 ${text}`;
  return { text, argsText, callIndex: assignIndex(argsText) };
}

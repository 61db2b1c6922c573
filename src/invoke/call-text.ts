/**
 * What the key of a call is made of: the tool and its arguments as text. Scopes that version 0.1 made keep its
 * derivation, in which some different arguments share a text and are counted together.
 */
import { callText, type KeyVersion, textOfTool } from "../definition/call-key.ts";
import { type Canonical, writeCanonical } from "../util/canonical.ts";

/** The identity of a call by version 1 of the derivation of keys. */
export interface FormerIdentity {
  readonly text: string;
  readonly likeness: string;
  readonly place: number | string;
}

export function writeArguments(toolName: string, args: unknown): Canonical {
  try {
    const written = writeCanonical(args);
    return { ...written, text: textOfTool(toolName, written.text) };
  } catch {
    return { text: unwritable(toolName), dependsOnVersion: true };
  }
}

/** @param args throws where they cannot be read */
export function textOfArguments(toolName: string, args: () => unknown, version?: KeyVersion): string {
  try {
    return callText(toolName, args(), version);
  } catch {
    return unwritable(toolName);
  }
}

/** Arguments that cannot be written are refused by the validation that follows. Until then they count as equal. */
function unwritable(toolName: string): string {
  return callText(toolName, "unencodable");
}

/**
 * Counted beside the current identity until the store says which one holds in the scope.
 * @param assignPlace counts the calls of one text
 */
export function identifyAsFormer(
  toolName: string,
  args: unknown,
  written: Canonical,
  assignPlace: (text: string) => number | string,
): FormerIdentity {
  const text = written.dependsOnVersion ? textOfArguments(toolName, () => args, 1) : written.text;
  // Texts begin with a quote, so the two identities never share a count.
  const likeness = `v1 ${text}`;
  return { text, likeness, place: assignPlace(likeness) };
}

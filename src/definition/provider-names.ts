/**
 * Maps tool names to names that a provider accepts. The same tools get the same names in any order, and no two tools share
 * a name.
 */
import { ToolwrightError } from "../errors.ts";
import { sha256 } from "../util/hash.ts";

export interface NameRule {
  /** A character that is not allowed in a name. Global. */
  readonly refused: RegExp;
  readonly maxLength: number;
}

/** The rule of Anthropic, OpenAI and most others. */
export const COMMON_NAME_RULE: NameRule = { refused: /[^a-zA-Z0-9_-]/g, maxLength: 64 };

const DIGEST_LENGTH = 8;

/**
 * The provider's name for each name, in order. Valid names stay the same.
 * @throws TOOL_ALREADY_REGISTERED for a duplicate name, or two names that map to the same one
 */
export function toProviderNames(names: readonly string[], rule: NameRule = COMMON_NAME_RULE): string[] {
  assertDistinct(names, names);
  const shortened = names.map((name) => shorten(name, rule));
  const count = new Map<string, number>();
  for (const name of shortened) count.set(name, (count.get(name) ?? 0) + 1);
  const given = names.map((name, index) => {
    const short = shortened[index] ?? name;
    return short === name || count.get(short) === 1 ? short : withDigest(name, short, rule);
  });
  assertDistinct(given, names);
  return given;
}

function shorten(name: string, rule: NameRule): string {
  const clean = name.replace(rule.refused, "_");
  if (clean.length <= rule.maxLength) return clean;
  return withDigest(name, clean, rule);
}

/** The digest covers the whole name, so that names which differ only in removed characters stay different. */
function withDigest(name: string, clean: string, rule: NameRule): string {
  const digest = sha256(name).slice(0, DIGEST_LENGTH);
  return `${clean.slice(0, rule.maxLength - DIGEST_LENGTH - 1)}_${digest}`;
}

function assertDistinct(given: readonly string[], names: readonly string[]): void {
  const first = new Map<string, number>();
  for (const [index, name] of given.entries()) {
    const other = first.get(name);
    if (other !== undefined) {
      const both = [names[other], names[index]].map((one) => `"${one}"`).join(" and ");
      throw new ToolwrightError(
        "TOOL_ALREADY_REGISTERED",
        `Two tools would have the name "${name}": ${both}. One would hide the other.`,
        { details: { names: [names[other], names[index]] } },
      );
    }
    first.set(name, index);
  }
}

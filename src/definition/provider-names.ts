/**
 * Names that a provider takes, for tools whose own it refuses, and back. The same tools get the same names whatever their
 * order, and no two tools share one.
 */
import { ToolwrightError } from "../errors.ts";
import { sha256 } from "../util/hash.ts";

export interface NameRule {
  /** A character that may not stand in a name. Global. */
  readonly refused: RegExp;
  readonly maxLength: number;
}

/** What Anthropic, OpenAI and most others take. */
export const COMMON_NAME_RULE: NameRule = { refused: /[^a-zA-Z0-9_-]/g, maxLength: 64 };

const DIGEST_LENGTH = 8;

/**
 * The name for the provider of each name, in order. Names that are fine stay as they are.
 * @throws TOOL_ALREADY_REGISTERED when a name comes twice, or two cannot be told apart
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

/** The digest is of the whole name: what was cut off or replaced tells names apart. */
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

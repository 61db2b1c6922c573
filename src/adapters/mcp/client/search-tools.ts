/** Ranks tools by the number of query words that they contain; words in the name count more. */

export interface Searchable {
  readonly name: string;
  readonly description: string;
}

const NAME_WEIGHT = 3;

export function searchTools<T extends Searchable>(tools: readonly T[], query: string, limit: number): T[] {
  const words = wordsOf(query);
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.tool.name.localeCompare(other.tool.name))
    .slice(0, limit)
    .map(({ tool }) => tool);
}

function scoreOf({ name, description }: Searchable, words: readonly string[]): number {
  const [named, described] = [wordsOf(name).join(" "), wordsOf(description).join(" ")];
  return words.reduce(
    (score, word) => score + (named.includes(word) ? NAME_WEIGHT : 0) + (described.includes(word) ? 1 : 0),
    0,
  );
}

/** `createIssue` and `create_issue` are the same two words. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

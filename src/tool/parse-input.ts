/** Parses the input of a call as a model sent it. */

export interface ParsedInput {
  readonly value: unknown;
}

/** `undefined` for text that is not JSON or is nested too deeply. The tool's validation then reports it to the model. */
export function parseInput(text: string): ParsedInput | undefined {
  try {
    return usable(JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

export function usable(value: unknown): ParsedInput | undefined {
  return isTooDeep(value) ? undefined : { value };
}

/** No tool needs more levels, and recursive code would overflow its stack on them. */
const DEEPEST = 200;

function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** What a model sent as the input of a call, where it can be used. */

export interface ParsedInput {
  readonly value: unknown;
}

/** `undefined` for what is not JSON, or nested too deeply. The model is told, in the words of the tool's validation. */
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

/** No tool takes so much; what reads or writes values one level inside the other would fail at it. */
const DEEPEST = 200;

function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}

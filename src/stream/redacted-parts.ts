/** The parts of a response that was redacted after its task, under the indexes that readers know. */
import { partsOfResponse } from "./parts-of-response.ts";
import type { NumberedPart } from "./stream-part.ts";

/**
 * Texts that were joined have the index of their first piece, so that results keep their position after their calls.
 * @param partsJson the parts before
 * @param response the redacted one
 * @returns `null` if they do not match: the parts get new indexes when a reader arrives
 */
export function redactedParts(partsJson: string, response: unknown): string | null {
  const known = JSON.parse(partsJson) as NumberedPart[];
  const parts = known.filter(({ type }) => type === "retracted");
  let next = 0;
  for (const details of partsOfResponse(response)) {
    const index = known.findIndex(({ type }, at) => at >= next && type === details.type);
    const location = known[index];
    if (location === undefined) return null;
    next = index + 1;
    const { attempt, response: id, nodeId, iteration, parentKey } = location;
    const inside = parentKey === undefined ? {} : { parentKey };
    parts.push({ index: location.index, attempt, response: id, nodeId, iteration, ...inside, ...details });
  }
  return JSON.stringify(parts);
}

/**
 * Defaults that are made anew each time, such as an id or the present moment. One of them in a schema that is shown would
 * make the tool another one in every process: approvals would be void, and recorded responses would not be found.
 */

const MOMENT_MS = 60_000;

/** @param shown the default, as it stands in the JSON Schema */
export function isMadeAnew(shown: unknown, makeAgain: () => unknown): boolean {
  return shown !== undefined && (JSON.stringify(makeAgain()) !== JSON.stringify(shown) || isNow(shown));
}

/** Twice in the same millisecond is the same moment. */
function isNow(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(isNow);
  const atMs = typeof value === "string" ? Date.parse(value) : value;
  return typeof atMs === "number" && Math.abs(atMs - Date.now()) < MOMENT_MS;
}

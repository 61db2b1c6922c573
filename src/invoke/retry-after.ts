/** The wait that a service requests before the next try. */

/** If a service requests a longer wait, the call fails instead. */
export const LONGEST_WAIT_MS = 3_600_000;

/** `retryAfterMs` on the error, or a `Retry-After` header in it: seconds or a date. */
export function retryAfterMs(error: unknown, now: number): number | undefined {
  try {
    return readRetryAfter(error, now);
  } catch {
    // An error that cannot be read requests no wait.
    return undefined;
  }
}

function readRetryAfter(error: unknown, now: number): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const record = error as Record<string, unknown>;
  const direct = record["retryAfterMs"];
  if (typeof direct === "number" && direct >= 0) return direct;
  const response = record["response"] as Record<string, unknown> | undefined;
  const sources = [record["headers"], record["responseHeaders"], response?.["headers"]];
  const headers = sources.find((source) => headerOf(source, "retry-after") !== undefined);
  const header = headerOf(headers, "retry-after");
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  if (Number.isNaN(date)) return undefined;
  // Both dates come from the service's clock, which may differ from ours.
  const sent = Date.parse(headerOf(headers, "date") ?? "");
  return Math.max(0, date - (Number.isNaN(sent) ? now : sent));
}

function headerOf(headers: unknown, wanted: string): string | undefined {
  if (headers instanceof Headers) return headers.get(wanted) ?? undefined;
  if (typeof headers !== "object" || headers === null) return undefined;
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === wanted);
  return found === undefined ? undefined : String(found[1]);
}

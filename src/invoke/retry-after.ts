/** How long a service asks to be left alone. */

/** `retryAfterMs` on the error, or a `Retry-After` header in it: seconds or a date. */
export function retryAfterMs(error: unknown, now: number): number | undefined {
  try {
    return readRetryAfter(error, now);
  } catch {
    // What cannot be read has asked for nothing.
    return undefined;
  }
}

function readRetryAfter(error: unknown, now: number): number | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const record = error as Record<string, unknown>;
  const direct = record["retryAfterMs"];
  if (typeof direct === "number" && direct >= 0) return direct;
  const response = record["response"] as Record<string, unknown> | undefined;
  const header =
    headerOf(record["headers"]) ?? headerOf(record["responseHeaders"]) ?? headerOf(response?.["headers"]);
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function headerOf(headers: unknown): string | undefined {
  if (headers instanceof Headers) return headers.get("retry-after") ?? undefined;
  if (typeof headers !== "object" || headers === null) return undefined;
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === "retry-after");
  return found === undefined ? undefined : String(found[1]);
}

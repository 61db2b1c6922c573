/**
 * Tests of deadlines. A busy machine may miss a deadline once; slow code misses it every time. Only a missed deadline
 * is retried: any other failure fails immediately.
 */
const MOST_TRIES = 3;

/** Records what took too long. */
export type Within = (what: string, tookMs: number, limitMs: number) => void;

export async function promptly(work: (within: Within) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const late: string[] = [];
    await work((what, tookMs, limitMs) => {
      if (tookMs > limitMs) late.push(`${what} took ${Math.round(tookMs)} ms, more than ${limitMs} ms`);
    });
    if (late.length === 0) return;
    if (tries === MOST_TRIES) throw new Error(`${late.join("; ")}, in each of ${tries} tries`);
  }
}

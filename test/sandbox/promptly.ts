/**
 * How soon something ends is a promise too. A machine that stood still for a moment may miss it once; what is slow by itself
 * misses it every time. Only lateness is looked at again: whatever else is wrong fails at once.
 */
const MOST_TRIES = 3;

/** Notes what took longer than it may. */
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

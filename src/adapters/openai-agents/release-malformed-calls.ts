/** Calls whose arguments are no JSON object: the SDK pauses for them before any tool hears of them. */

/** The part of a `RunState` that is used. */
interface PausedState<Interruption> {
  getInterruptions(): Interruption[];
  approve(interruption: Interruption): void;
}

/**
 * Lets the loop go on from them; nothing is run, and the SDK tells the model. Such a pause has no row in the store, so
 * nobody would ever decide it.
 * @returns how many there were
 * @example
 * const paused = await runtime.run({ runId }, () => run(agent, input));
 * if (releaseMalformedCalls(paused.state) > 0) await runtime.run({ runId }, () => run(agent, paused.state));
 */
export function releaseMalformedCalls<Interruption extends { readonly arguments?: string | undefined }>(
  state: PausedState<Interruption>,
): number {
  const malformed = state.getInterruptions().filter(({ arguments: text }) => !isObject(text));
  for (const interruption of malformed) state.approve(interruption);
  return malformed.length;
}

function isObject(text: string | undefined): boolean {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    // No JSON at all.
    return false;
  }
}

/** Releases calls whose arguments are not a JSON object. The SDK pauses on them before it calls the tool. */

/** The part of a `RunState` that this file uses. */
interface PausedState<Interruption> {
  getInterruptions(): Interruption[];
  approve(interruption: Interruption): void;
}

/**
 * Lets the loop continue: no tool runs, and the SDK reports the error to the model. Such a pause has no approval in
 * the store, so it could not be decided otherwise.
 * @returns the number of released calls
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
    // Not JSON.
    return false;
  }
}

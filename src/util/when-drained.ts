/**
 * Tells when the process would end although something is still waited for: a promise that nobody will settle, with no timer,
 * connection or child process left that could. Node would leave without a word, and with exit code 0.
 */
export function whenDrained(onDrained: () => void): Disposable {
  process.once("beforeExit", onDrained);
  return { [Symbol.dispose]: () => void process.off("beforeExit", onDrained) };
}

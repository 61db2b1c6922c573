/**
 * Calls `onDrained` when the event loop is empty while the program still awaits a promise: no timer, connection or child
 * process is left that could settle it. Node would exit silently with code 0.
 */
export function whenDrained(onDrained: () => void): Disposable {
  process.once("beforeExit", onDrained);
  return { [Symbol.dispose]: () => void process.off("beforeExit", onDrained) };
}

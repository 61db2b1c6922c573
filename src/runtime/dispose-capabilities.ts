/** Disposes values that were created for one call. docs/reference/runtime.md lists the same rules. */
import { messageOf } from "../invoke/error-record.ts";
import { systemClock } from "../util/clock.ts";

/** A connection that does not close must not block its call. */
const LONGEST_DISPOSAL_MS = 5_000;

export interface Disposer {
  readonly name: string;
  readonly value: object;
  dispose(): unknown;
}

/** Whether the value implements the language's protocol for disposal. */
export function isDisposable(value: object): boolean {
  return methodOf(value, Symbol.asyncDispose) !== undefined || methodOf(value, Symbol.dispose) !== undefined;
}

/**
 * The first of these methods that the value has: `[Symbol.asyncDispose]`, `[Symbol.dispose]`, `close`, `end`. A value that
 * has `release` besides `close` or `end` was taken from a pool, and goes back to it.
 */
export function disposerOf(name: string, value: unknown): Disposer | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  const ending = methodOf(value, "close") ?? methodOf(value, "end");
  const method =
    methodOf(value, Symbol.asyncDispose) ??
    methodOf(value, Symbol.dispose) ??
    (ending === undefined ? undefined : (methodOf(value, "release") ?? ending));
  return method === undefined ? undefined : { name, value, dispose: () => method.call(value) };
}

function methodOf(value: object, name: string | symbol): ((this: object) => unknown) | undefined {
  try {
    const method = (value as Record<string | symbol, unknown>)[name];
    return typeof method === "function" ? (method as (this: object) => unknown) : undefined;
  } catch {
    // A property that cannot be read cannot be used to dispose the value.
    return undefined;
  }
}

/** Runs all of them, even if some fail. @throws one error that names all that failed */
export async function runDisposers(disposers: readonly Disposer[]): Promise<void> {
  const failures: string[] = [];
  for (const disposer of disposers) {
    try {
      await withTimeLimit(disposer);
    } catch (error) {
      failures.push(disposer.name === "" ? messageOf(error) : `${disposer.name}: ${messageOf(error)}`);
    }
  }
  if (failures.length > 0) throw new Error(failures.join("; "));
}

async function withTimeLimit(disposer: Disposer): Promise<void> {
  const over = new AbortController();
  const late = systemClock.sleep(LONGEST_DISPOSAL_MS, over.signal).then(
    () => {
      throw new Error(`it was not disposed within ${LONGEST_DISPOSAL_MS} ms`);
    },
    () => undefined,
  );
  try {
    await Promise.race([(async () => disposer.dispose())(), late]);
  } finally {
    over.abort();
  }
}

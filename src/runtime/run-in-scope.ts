/** Runs a function inside a scope, and closes the scope with the outcome of the function. */
import { ToolwrightError } from "../errors.ts";
import { runInAmbient, tryAround } from "../invoke/ambient.ts";
import { encodeCleanError, wrapThrown } from "../invoke/error-record.ts";
import type { Host } from "../invoke/host.ts";
import type { Outcome } from "../invoke/outcome.ts";
import { watchAISDK } from "../tool/watch-ai-sdk.ts";
import type { Transaction } from "../store/store.ts";
import type { OpenedScope, ScopeEnd } from "./open-scopes.ts";

export interface RunInOptions<T> {
  readonly ready?: Promise<void> | undefined;
  /** The scope, if it is open. */
  readonly opened?: (() => OpenedScope | undefined) | undefined;
  /** Why work failed that returned a result. */
  readonly failureOf?: ((result: T) => Error | undefined) | undefined;
  /** Whether the error says that the work has not begun. */
  readonly isRefusal?: ((error: unknown) => boolean) | undefined;
  /** Stores the result, once the work has returned one that is to be stored. */
  readonly storeResult?: (() => (() => Transaction<void>) | undefined) | undefined;
}

/** @param open the scope; it may be opened by the first call in it */
export async function runInScope<T>(
  host: Host,
  budgetId: string,
  open: () => OpenedScope,
  work: () => T | PromiseLike<T>,
  { ready, opened = open, failureOf, isRefusal, storeResult }: RunInOptions<T>,
): Promise<T> {
  watchAISDK();
  const { budgets, replay } = host;
  const failed = Promise.withResolvers<never>();
  // The failure may come after `work` has ended, when nothing awaits it.
  failed.promise.catch(() => undefined);
  const ambient = {
    get scope() {
      const { scope } = open();
      scope.onFailure ??= failed.reject;
      return scope;
    },
    ofTry: undefined,
    around: tryAround(),
    replay,
  };
  let failure: Error | undefined;
  let isClosed = false;
  budgets.enter(budgetId);
  try {
    await ready;
    const result = await Promise.race([runInAmbient(ambient, undefined, async () => work()), failed.promise]);
    failure = failureOf?.(result);
    const store = storeResult?.();
    if (store !== undefined) {
      await open().closeWith(store, endOf(failure));
      isClosed = true;
    }
    return result;
  } catch (error) {
    if (isRefusal?.(error) !== true) failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    budgets.leave(budgetId);
    if (!isClosed) await opened()?.close(endOf(failure));
  }
}

/** The run of a single call ends as the call does. */
export function failureOfOutcome(result: unknown): Error | undefined {
  const { status, error } = result as Partial<Outcome & { readonly error: Error }>;
  if (status === "error") return error;
  return status === "denied"
    ? new ToolwrightError("TOOL_APPROVAL_DENIED", "The call was denied.")
    : undefined;
}

/** Work that threw because a call waits has not failed, even if the decision was made before it ended. */
function endOf(thrown: Error | undefined): ScopeEnd {
  if (thrown === undefined) return { errorJson: null, isWaiting: false };
  if (ToolwrightError.is(thrown) && thrown.code === "TOOL_APPROVAL_PENDING")
    return { errorJson: null, isWaiting: true };
  const failure = wrapThrown(thrown, "TOOL_EXECUTION_FAILED", { hint: "" });
  return { errorJson: encodeCleanError(failure), isWaiting: false };
}

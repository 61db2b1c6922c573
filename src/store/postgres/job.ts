/** A transaction on its way to a commit. It may run several times: in a group, alone, and again after a conflict. */
import type { Statement, StatementResult } from "../statement.ts";
import type { CommitLevel, Transaction } from "../store.ts";

export type Send = (statement: Statement) => Promise<StatementResult>;

export interface Job {
  readonly level: CommitLevel;
  /** Whether it ends with its first statement: see `isLast` of `Statement`. */
  readonly isShort: boolean;
  /** Its first statement. `undefined` if it has none. */
  start(): Statement | undefined;
  /** Runs the rest, once the first statement has this result. */
  finish(first: StatementResult | undefined, send: Send): Promise<void>;
  /** Reports the result of the last run, which was committed. */
  commit(): void;
  fail(error: unknown): void;
}

export function createJob<T>(
  work: () => Transaction<T>,
  level: CommitLevel,
  resolve: (result: T) => void,
  fail: (error: unknown) => void,
): Job {
  let transaction = work();
  let step = transaction.next();
  const isShort = step.done !== true && step.value.isLast === true;
  // A longer transaction starts when it has its connection, so it can see changes that this process made in the meantime.
  let isFresh = isShort;
  let result: T;
  return {
    level,
    isShort,
    start: () => {
      if (!isFresh) {
        transaction = work();
        step = transaction.next();
      }
      isFresh = false;
      return step.done === true ? undefined : step.value;
    },
    finish: async (first, send) => {
      if (first !== undefined) step = transaction.next(first);
      while (step.done !== true) step = transaction.next(await send(step.value));
      result = step.value;
    },
    commit: () => resolve(result),
    fail,
  };
}

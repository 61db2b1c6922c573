/**
 * Reverts what happened inside a saga that failed, then fails the run with the original error. The failure is stored
 * first: a process that resumes the run continues to revert, and runs no task.
 */
import { decodeError, encodeCleanError, copyError } from "../invoke/error-record.ts";
import type { ToolwrightError } from "../errors.ts";
import { planReverts } from "../runtime/revert/plan-reverts.ts";
import type { RevertReport } from "../runtime/revert/revert-report.ts";
import { runReverts } from "../runtime/revert/run-reverts.ts";
import type { Transaction } from "../store/store.ts";
import { saveSaga } from "../store/tables/reverts.ts";
import { holdRun } from "../store/tables/workflow-runs.ts";
import { specOf } from "../tool/create-callable.ts";
import { fencedError } from "./record-task.ts";
import type { RunState } from "./run-state.ts";
import { isInSaga, type SagaPlace } from "./saga.ts";

export interface SagaEnd {
  readonly status: "failed" | "waiting-approval";
  readonly error?: ToolwrightError;
  /** The end of the run ends the saga too. */
  readonly isSagaOver?: boolean;
}

interface StoredSaga extends SagaPlace {
  readonly errorJson: string;
  /** Sagas that failed alongside this one. */
  readonly others?: readonly SagaPlace[] | undefined;
}

export async function failSagas(
  run: RunState,
  [first, ...others]: readonly SagaPlace[],
  error: ToolwrightError,
): Promise<SagaEnd> {
  const { host, runId } = run;
  const { tasks, passes } = first ?? { tasks: [], passes: [] };
  const stored: StoredSaga = { tasks, passes, others, errorJson: encodeCleanError(error) };
  await host.store.transaction(function* () {
    yield* assertOwned(run);
    yield* saveSaga(runId, JSON.stringify(stored), host.clock.now());
  }, "full");
  return revertSaga(run, stored);
}

/** @param sagaJson as stored by the process that saw the failure */
export async function continueSaga(run: RunState, sagaJson: string): Promise<SagaEnd> {
  return revertSaga(run, JSON.parse(sagaJson) as StoredSaga);
}

async function revertSaga(run: RunState, saga: StoredSaga): Promise<SagaEnd> {
  const { host, runId, settings, signal } = run;
  const { tools } = await import("../builtin/tools.ts");
  const report = await runReverts(
    host,
    {
      runId,
      kind: "workflow",
      machine: null,
      settings,
      signal,
      guard: () => assertOwned(run),
      builtIn: new Map(Object.values(tools).map((tool) => [tool.name, specOf(tool)])),
    },
    () =>
      planReverts(host.store, runId, (effects) =>
        effects.filter((effect) => [saga, ...(saga.others ?? [])].some((one) => isInSaga(one, effect))),
      ),
  );
  const counts = countsOf(report);
  run.emit({ type: "saga-reverted", ...counts });
  if (counts.pending > 0) return { status: "waiting-approval" };
  const error = decodeError(saga.errorJson);
  const details = { ...error.details, saga: counts };
  return { status: "failed", error: copyError(error, { details }), isSagaOver: true };
}

function countsOf({ reverted, left, failed, pending }: RevertReport) {
  return {
    reverted: reverted.length,
    left: left.length,
    failed: failed.length,
    pending: pending.length,
  };
}

/** A process that has lost the run must not revert anything. */
function* assertOwned({ runId, epoch }: RunState): Transaction<void> {
  if (!(yield* holdRun(runId, epoch))) throw fencedError(runId);
}

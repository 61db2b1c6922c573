/** Explains a run whose effects were reverted: which effects remain, and what an operator can do. */
import { planReverts } from "../runtime/revert/plan-reverts.ts";
import type { Store } from "../store/store.ts";
import { readRevertedAt } from "../store/tables/reverts.ts";
import { toAge } from "../terminal/readable.ts";
import type { ExplainedSteps } from "./explain-run.ts";
import { nextStep } from "./next-step.ts";

export async function explainReverted(
  store: Store,
  runId: string,
  explained: ExplainedSteps,
): Promise<ExplainedSteps> {
  const sinceMs = await store.read(() => readRevertedAt(runId));
  const late = (await planReverts(store, runId)).filter(({ isLate }) => isLate);
  const age = sinceMs === null ? "" : ` ${toAge(sinceMs)}`;
  return {
    ...explained,
    because: [
      ...explained.because,
      `Its effects were reverted${age}, so it cannot be resumed. It can be forked.`,
      ...late.map(
        ({ effect: { toolName, nodeId } }) =>
          `The effect of "${toolName}" in task "${nodeId}" happened late, after its revert. Revert the run again.`,
      ),
    ],
    next: [
      ...(late.length > 0 ? [nextStep("revert", runId)] : []),
      // A resume is refused, with or without a flag.
      ...explained.next.filter(
        ({ action, flags }) => action !== "resume" && action !== "inspect" && !flags.some(isResumeFlag),
      ),
      nextStep("inspect", runId),
    ],
  };
}

function isResumeFlag(flag: readonly string[]): boolean {
  return flag[0] === "--resume";
}

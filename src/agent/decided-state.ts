/**
 * A state whose approval was just decided. It is returned immediately, while the decision is being stored. Only the stored
 * decision counts: the JSON of the state does not contain it.
 */
import { aFullText } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import type { ApprovalDecision } from "../runtime/approvals.ts";
import { DECISION_CHECKS, verdictOn } from "../invoke/approvals/decision.ts";
import { refusal } from "../runtime/options.ts";
import type { AgentState } from "./state.ts";

export interface ToolApprovalResolution extends ApprovalDecision {
  readonly id: string;
}

export const TOOL_APPROVAL_RESOLUTION: OptionTable = optionTable<ToolApprovalResolution>(
  "agent.resolveToolApproval",
  { id: aFullText, ...DECISION_CHECKS },
  { required: ["id"], example: '{ id, approved: true } or { id, resolution: "run-again" }' },
);

/** The state, and a promise of it: `await` waits until the decision is stored. */
export type DecidedState = AgentState & PromiseLike<AgentState>;

export class Decisions {
  readonly #writes = new WeakMap<object, Promise<unknown>>();

  /** @param write stores the decision */
  decide(state: AgentState, resolution: ToolApprovalResolution, write: () => Promise<unknown>): DecidedState {
    checkOptions(TOOL_APPROVAL_RESOLUTION, resolution);
    const { id } = resolution;
    const shown = Array.isArray(state?.pendingApprovals)
      ? state.pendingApprovals.find((one) => one?.id === id)
      : undefined;
    if (shown === undefined)
      throw refusal("id", `must be the id of a pending approval in this state, not ${JSON.stringify(id)}`);
    // Checked now, not when the state is used: a plain `approved` does not decide about an interrupted call.
    const { approved } = verdictOn(shown, resolution);
    const before = this.written(state);
    const pendingApprovals = state.pendingApprovals.map((one) =>
      one.id === id ? { ...one, status: approved ? ("approved" as const) : ("rejected" as const) } : one,
    );
    const decided: AgentState = { ...state, pendingApprovals };
    const writing = before.then(write);
    // `invoke` and `await` report a failure; a discarded state must not cause an unhandled rejection.
    writing.catch(() => undefined);
    // A copy of the state has the same list, so it waits for the write as well.
    this.#writes.set(decided, writing);
    this.#writes.set(pendingApprovals, writing);
    return hidden(decided, {
      // oxlint-disable-next-line unicorn/no-thenable -- the contract: it can be awaited, and need not be
      then: (onDone: (state: AgentState) => unknown, onFailed: (error: unknown) => unknown) =>
        writing.then(() => onDone({ ...decided }), onFailed),
      toJSON: () => ({ ...decided, pendingApprovals: state.pendingApprovals }),
    }) as DecidedState;
  }

  /** Resolves when all decisions of this state are stored. @throws the error that prevented it */
  async written(state: { readonly pendingApprovals?: unknown } | undefined): Promise<void> {
    if (typeof state !== "object" || state === null) return;
    const { pendingApprovals } = state;
    await this.#writes.get(state);
    if (typeof pendingApprovals === "object" && pendingApprovals !== null)
      await this.#writes.get(pendingApprovals);
  }
}

/** Adds methods that copies, comparisons and JSON ignore. */
function hidden(state: AgentState, methods: object): object {
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(state, name, { value });
  return state;
}

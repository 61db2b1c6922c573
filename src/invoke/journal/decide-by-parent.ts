/**
 * Decides about a call of a fork that the fork itself has not made: if the run that it was forked from, or one before that,
 * has made an equal call with a non-idempotent effect, that effect is never repeated silently.
 */
import { forkedKey } from "../../definition/call-key.ts";
import { isUnrepeatable } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import { approvalOfCall } from "../../store/tables/approvals.ts";
import type { CallRow } from "../../store/tables/calls.ts";
import { type ForkRow, readAncestors, readFork } from "../../store/tables/forks.ts";
import { latestCall, type RecordedCall, wholeOutput } from "../../store/tables/recorded-calls.ts";
import { hasReverted } from "../../store/tables/reverts.ts";
import { peekScope, REVERT_PATH } from "../../store/tables/scopes.ts";
import { isDeleted } from "../../store/tables/tombstones.ts";
import type { Transaction } from "../../store/store.ts";
import { decode, encode } from "../../util/encode.ts";
import { requestApproval } from "../approvals/request.ts";
import { type Call, emit } from "../call.ts";
import type { Result } from "../outcome.ts";
import { Contended, refuse } from "../policy.ts";
import { prepareInput } from "../policies/validate.ts";
import { recordHappened } from "./record-happened.ts";
import { openReplayRequest, runOnResolution } from "./replay-approval.ts";
import { hadEffect } from "./same-business-key.ts";

interface ParentCall {
  readonly fork: ForkRow;
  /** The run that made it. */
  readonly runId: string;
  /** `undefined` if retention has deleted that run: it is not known whether it made the call. */
  readonly row: RecordedCall | undefined;
}

/** `undefined`: the call runs. */
export async function decideByParent(call: Call): Promise<Result | undefined> {
  const { spec, scope, host } = call;
  if (scope.originId === undefined || !isUnrepeatable(spec)) return undefined;
  // A business key is claimed in the whole store, and no option of a fork changes that. A revert belongs to its own run.
  if (spec.idempotencyKey !== undefined || scope.identity.path === REVERT_PATH) return undefined;
  const found = await host.store.read(() => findInLine(call));
  if (found === undefined) return undefined;
  const isKnown = found.row !== undefined && hadEffect(found.row);
  if (isKnown && found.fork.effects === "run") return undefined;
  call.copiedFrom = found.row?.key ?? "";
  if (isKnown && found.fork.effects === "reuse") return reuse(call, found.row);
  return ask(call, found);
}

/** The pending request of a fork about a call of its parent, or its resolution. */
export async function resolveCopied(call: Call, row: CallRow): Promise<Result | undefined> {
  const question = await openReplayRequest(call);
  if (question === undefined) {
    const found = await call.host.store.read(() => findInLine(call));
    return ask(call, found ?? (await withoutParent(call)));
  }
  if (question.status === "pending") return { kind: "pending", approval: question };
  if (question.status === "denied") return { kind: "denied", approval: question };
  const { outputJson } = question;
  if (outputJson === null) {
    runOnResolution(call, question);
    emit(call, { type: "call-rerun", reason: "the approver decided to run it again" });
    return undefined;
  }
  if (decode(outputJson) !== undefined) return recordHappened(call, row, outputJson, question);
  // Without its own output, the answer means the parent's result.
  const found = await call.host.store.read(() => findInLine(call));
  const isKnown = found?.row !== undefined && hadEffect(found.row);
  return recordHappened(call, row, isKnown ? outputOf(found.row) : encode(undefined), question);
}

function reuse(call: Call, row: RecordedCall): Result {
  try {
    call.note = "The run that this one was forked from did this already. It was not done again.";
    return { kind: "recorded", outputJson: outputOf(row), attempt: row.attempt, isElsewhere: true };
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    return refuse(error);
  }
}

/** The late result is the only information about a call that failed although its effect happened. */
function outputOf(row: RecordedCall): string {
  return row.status === "success" ? wholeOutput(row) : (row.lateJson ?? encode(undefined));
}

async function ask(call: Call, { runId, row }: ParentCall): Promise<Result> {
  await prepareInput(call);
  const previous = await call.host.store.read(() => approvalOfCall(call.key, call.host.clock.now()));
  const isKnown = row !== undefined && hadEffect(row);
  const made = `Run "${runId}", which this run was forked from,`;
  const what =
    row === undefined
      ? `${made} was deleted, so it is not known whether it made this call of "${call.spec.name}".`
      : isKnown
        ? `${made} has made this call of "${call.spec.name}" already. "It happened" takes its result.`
        : `${made} has made this call of "${call.spec.name}" too, and it is not known whether it happened.`;
  const prompt = `${what} Run it again, or give it up?`;
  const question = { prompt, guard: () => isUnchanged(call, row), isOutputKnown: isKnown };
  return { kind: "pending", approval: await requestApproval(call, "replay", previous, question) };
}

/** The parent may be running: its call may have ended since it was read. @throws Contended */
function* isUnchanged(call: Call, row: RecordedCall | undefined): Transaction<void> {
  if (row === undefined) return;
  const current = (yield* findInLine(call))?.row;
  if (current?.status !== row.status || current.effect !== row.effect) throw new Contended();
}

function* findInLine(call: Call): Transaction<ParentCall | undefined> {
  const { scope, originKey } = call;
  const { runId, nodeId, iteration, path } = scope.identity;
  const fork = yield* readFork(runId);
  if (fork === undefined || originKey === undefined) return undefined;
  for (const ancestor of yield* readAncestors(runId)) {
    const keyIn = (key: string): string =>
      key === "" || ancestor === fork.originId ? key : forkedKey(ancestor, key);
    const parentKey = keyIn(scope.originParentKey);
    const found = yield* peekScope({ runId: ancestor, nodeId, iteration, path, parentKey });
    const row = found && (yield* latestCall(found.id, keyIn(originKey)));
    if (row !== undefined && mayHaveHappened(row)) {
      const isLate = row.lateJson !== null && row.status !== "success";
      if (!(yield* hasReverted(ancestor, row.key, isLate))) return { fork, runId: ancestor, row };
    } else if (found === undefined && (yield* isDeleted(ancestor))) {
      return { fork, runId: ancestor, row: undefined };
    }
  }
  return undefined;
}

function mayHaveHappened(row: RecordedCall): boolean {
  if (row.status === "denied" || row.effect === "none") return false;
  return row.tries > 0 || row.replayedFrom !== null || row.copiedFrom !== null;
}

/** The parent's call has changed since the fork was made, or was reverted. The copy stays in doubt. */
async function withoutParent(call: Call): Promise<ParentCall> {
  const fork = await call.host.store.read(() => readFork(call.scope.identity.runId));
  if (fork === undefined) throw new Contended();
  return { fork, runId: fork.parentId, row: undefined };
}

/** Creates a run from the part of another run before a task or call. Reads the parent and never changes it. */
import { randomUUID } from "node:crypto";
import { forkedKey, KEY_VERSION } from "../definition/call-key.ts";
import { aBoolean, aFullText, anObject, anything, aRunId, oneOf } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import type { PlanOutline } from "../invoke/events.ts";
import type { Host } from "../invoke/host.ts";
import type { ForkedRun, ForkOptions } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/store.ts";
import * as copy from "../store/tables/copy-run.ts";
import { FORK_EFFECTS, insertFork, readFork } from "../store/tables/forks.ts";
import { copyRecording, isRecorded, outputPart, resultPart, turnPart } from "../store/tables/recordings.ts";
import { isBeingReverted, listRevertedCalls } from "../store/tables/reverts.ts";
import { readOutline } from "../store/tables/runs.ts";
import { readLoopEnds, readTaskHeads } from "../store/tables/tasks.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { readRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { decode, encode } from "../util/encode.ts";
import type { CallToCopy } from "../store/tables/copy-run.ts";
import { chooseCut, forkError, outputsFor, type ReplacedOutput } from "./choose-cut.ts";
import { type KnownRun, requireRun } from "./describe-run.ts";
import {
  type Cut,
  enclosingKeys,
  type ForkSource,
  type Kept,
  keepBefore,
  isRevertedIn,
  keptLoops,
  rootsOf,
} from "./fork-cut.ts";
import { responsesBefore } from "./fork-responses.ts";
import type { StartOptions } from "../workflow/run-options.ts";

export const FORK_OPTIONS: OptionTable = optionTable<ForkOptions>(
  "runtime.fork",
  {
    runId: aRunId,
    at: aFullText,
    input: anything,
    outputs: anObject,
    effects: oneOf(...FORK_EFFECTS),
    dryRun: aBoolean,
  },
  { required: ["runId"], example: '{ runId: "order-17", at: "pay" }' },
);

interface Parent extends ForkSource {
  readonly workflow: WorkflowRunRow | undefined;
  readonly originId: string;
  readonly outline: readonly PlanOutline[];
  readonly endedLoops: ReadonlySet<string>;
  readonly recorded: ReadonlySet<number>;
  readonly isKept: boolean;
}

/** @throws TOOL_FORK_INVALID, TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, TOOL_OPTION_INVALID */
export async function forkRun(host: Host, options: ForkOptions): Promise<ForkedRun> {
  checkOptions(FORK_OPTIONS, options);
  const { store } = host;
  const known = await requireRun(store, options.runId);
  const runId = randomUUID();
  const work = (): Transaction<ForkedRun> => fork(store, known, runId, options, host.clock.now());
  return options.dryRun === true ? store.read(work) : store.transaction(work, "full");
}

function* fork(
  { dialect }: Store,
  known: KnownRun,
  runId: string,
  options: ForkOptions,
  nowMs: number,
): Transaction<ForkedRun> {
  const parentId = options.runId;
  const { effects = "ask", dryRun = false } = options;
  // Until the fork is stored, retention does not delete its parent.
  if (!dryRun) yield* assertNotDeleted(parentId);
  // Effects that exist now may be reverted before the fork runs.
  if (yield* isBeingReverted(parentId))
    throw forkError(
      `The effects of run "${parentId}" are being reverted, and that has not ended`,
      "Wait until it has ended, then fork. If its process has died, resume the run or revert it again.",
    );
  const parent = yield* readParent(parentId);
  const isWorkflow = parent.workflow !== undefined;
  const cut = chooseCut(known, parent, options);
  const kept = keepBefore(parent, cut, isWorkflow);
  const outputs = outputsFor(known, kept, options.outputs);
  const at = options.at ?? null;
  const report: ForkedRun = {
    runId,
    parentId,
    at,
    effects,
    copied: { tasks: kept.tasks.length, calls: kept.calls.length },
    rerun: namesOfRerun(parent, kept),
    reverted: [...new Set(kept.tasks.filter(isRevertedIn(parent)).map(({ nodeId }) => nodeId))],
    dryRun,
  };
  if (dryRun) return report;
  yield* copy.insertForkedRun(parentId, runId, { ...startOf(parent.workflow, options, outputs), nowMs });
  yield* insertFork({ runId, parentId, originId: parent.originId, effects, cut: at, madeAtMs: nowMs });
  const loops = keptLoops(parent.endedLoops, parent.outline, parent.tasks, kept.tasks);
  yield* copy.copyTree(parentId, runId, loops, nowMs);
  yield* copyTasks(dialect, parentId, runId, kept);
  for (const { place, output } of outputs) yield* copy.replaceOutput(runId, place, encode(output));
  yield* copyScopes(dialect, runId, parent, cut, kept);
  if (known.row.kind === "agent") yield* copyTurns(parentId, runId, cut, kept);
  if (parent.isKept && isReplayable(options, kept)) yield* copyRecordings(runId, parent, cut, kept, options);
  return report;
}

function* readParent(runId: string): Transaction<Parent> {
  const outline = yield* readOutline(runId);
  return {
    workflow: yield* readRun(runId),
    tasks: yield* readTaskHeads(runId),
    scopes: yield* copy.readScopes(runId),
    calls: yield* copy.readCallsToCopy(runId),
    reverted: yield* listRevertedCalls(runId),
    originId: (yield* readFork(runId))?.originId ?? runId,
    outline: outline === undefined ? [] : (JSON.parse(outline) as readonly PlanOutline[]),
    endedLoops: yield* readLoopEnds(runId),
    recorded: yield* copy.scopesWithResponses(runId),
    isKept: yield* isRecorded(runId),
  };
}

/** The input and options that the fork starts with; `null`: the parent's. */
function startOf(
  workflow: WorkflowRunRow | undefined,
  { input }: ForkOptions,
  outputs: readonly ReplacedOutput[],
): { readonly inputJson: string | null; readonly optionsJson: string | null } {
  if (workflow === undefined) return { inputJson: null, optionsJson: null };
  const options = decode(workflow.optionsJson) as StartOptions;
  // The schema has parsed the input of the parent, and must not parse it again.
  const isInputParsed = input === undefined && workflow.shape !== "";
  const given = outputs.map(({ place: { nodeId, path } }) => ({ nodeId, path }));
  // The parent may be a fork that has not started.
  const replacedOutputs = [...(options.replacedOutputs ?? []), ...given];
  return {
    inputJson: input === undefined ? null : encode(input),
    optionsJson: encode({
      ...options,
      isInputParsed,
      ...(replacedOutputs.length === 0 ? {} : { replacedOutputs }),
    }),
  };
}

function namesOfRerun({ tasks, scopes, workflow }: Parent, kept: Kept): string[] {
  if (workflow !== undefined)
    return [...new Set(tasks.filter((task) => !kept.tasks.includes(task)).map(({ nodeId }) => nodeId))];
  const keptScopes = new Set(kept.calls.map(({ scopeId }) => scopeId));
  const roots = scopes.filter(({ id, parentKey }) => parentKey === "" && !keptScopes.has(id));
  return [
    ...new Set([...roots, ...(kept.open === undefined ? [] : [kept.open.root])].map(({ nodeId }) => nodeId)),
  ];
}

function* copyTasks(
  dialect: Store["dialect"],
  parentId: string,
  runId: string,
  { tasks, open }: Kept,
): Transaction<void> {
  // A task outside any loop is stored without a path, and its scope with the path of a first pass.
  const places =
    open === undefined ? [] : [open.root.path, ""].map((path) => ({ nodeId: open.root.nodeId, path }));
  yield* copy.copyTasks(dialect, parentId, runId, [...tasks, ...places]);
  if (open === undefined) return;
  for (const place of places) yield* copy.reopenTask(runId, place, open.attempt);
}

/** Scopes that hold a call of the fork, under the keys of the fork. */
function* copyScopes(
  dialect: Store["dialect"],
  runId: string,
  parent: Parent,
  cut: Cut,
  kept: Kept,
): Transaction<void> {
  const { originId, scopes, calls } = parent;
  const newKeys = new Map(calls.map(({ key, originKey }) => [key, forkedKey(runId, originKey)]));
  const holding = new Set(kept.calls.map(({ scopeId }) => scopeId));
  const rootOf = rootsOf(parent);
  if (kept.open !== undefined) holding.add(kept.open.root.id);
  // Those of tasks that are over are for fixtures of the fork.
  for (const { id } of scopes) {
    const root = rootOf(id);
    const isNeeded = cut.kind === "end" || parent.isKept;
    if (isNeeded && root !== undefined && parent.recorded.has(id) && kept.isBefore(root)) holding.add(id);
  }
  const used = new Set([...holding].flatMap((id) => [id, rootOf(id)?.id ?? id]));
  const copied = scopes
    // Keys of older versions are derived differently: the fork must find the parent's calls.
    .filter(({ id, keyVersion }) => used.has(id) || keyVersion !== KEY_VERSION)
    .map((scope) => ({
      ...scope,
      parentKey: scope.parentKey === "" ? "" : (newKeys.get(scope.parentKey) ?? scope.parentKey),
      attempt: attemptOf(scope, used, rootOf, kept),
      oldId: scope.id,
    }));
  const ids = yield* copy.insertScopes(dialect, { runId, originId }, copied);
  const newIds = new Map(copied.map((scope) => [scope.oldId, ids.get(copy.scopeName(scope)) ?? 0]));
  yield* copy.copyCalls(
    dialect,
    kept.calls.map(({ scopeId, key, attempt }) => ({
      scopeId,
      key,
      attempt,
      newScopeId: newIds.get(scopeId) ?? 0,
      newKey: newKeys.get(key) ?? "",
    })),
  );
  const responses: copy.CopiedResponses[] = [];
  for (const { oldId } of copied) {
    if (!used.has(oldId) || !parent.recorded.has(oldId)) continue;
    const at = cutIn(parent, cut, oldId);
    const before =
      at && responsesBefore(yield* copy.readResponsesToCopy(oldId), at, callsOf(parent, kept, oldId));
    responses.push({ scopeId: oldId, newScopeId: newIds.get(oldId) ?? 0, responses: before ?? null });
  }
  yield* copy.copyResponses(dialect, responses);
}

/** The call at which a scope is cut: the one at the cut, or the call around it. `undefined`: all of the scope is kept. */
function cutIn(parent: Parent, cut: Cut, scopeId: number): CallToCopy | undefined {
  if (cut.kind !== "call") return undefined;
  if (cut.call.scopeId === scopeId) return cut.call;
  const around = enclosingKeys(parent, cut.call);
  return parent.calls.find(
    (call) => call.scopeId === scopeId && around.has(call.key) && call.attempt === cut.call.attempt,
  );
}

function callsOf({ calls }: Parent, kept: Kept, scopeId: number) {
  const isKept = new Set(kept.calls);
  const inScope = calls.filter((call) => call.scopeId === scopeId);
  return {
    kept: inScope.filter((call) => isKept.has(call)),
    dropped: inScope.filter((call) => !isKept.has(call)),
  };
}

function attemptOf(
  scope: ForkSource["scopes"][number],
  used: ReadonlySet<number>,
  rootOf: ReturnType<typeof rootsOf>,
  { open }: Kept,
): number {
  if (!used.has(scope.id)) return 1;
  return open !== undefined && rootOf(scope.id) === open.root ? open.attempt : scope.attempt;
}

/** With other outputs or another input, the tasks before the cut would not match what the code does with the input. */
function isReplayable({ input, outputs = {} }: ForkOptions, { tasks }: Kept): boolean {
  return Object.keys(outputs).length === 0 && (input === undefined || tasks.length === 0);
}

/** The fork can be recorded like its parent. */
function* copyRecordings(
  runId: string,
  parent: Parent,
  cut: Cut,
  kept: Kept,
  { runId: parentId }: ForkOptions,
): Transaction<void> {
  const roots = parent.scopes.filter((scope) => scope.parentKey === "" && kept.isBefore(scope));
  const parts = [
    ...kept.tasks.map(({ nodeId, path }) => outputPart(nodeId, path)),
    ...roots.map(({ nodeId, path }) => resultPart(nodeId, path)),
    ...Array.from({ length: turnsBefore(cut, kept) ?? roots.length }, (_, index) => turnPart(index + 1)),
  ];
  yield* copyRecording(parentId, runId, parts);
}

/** An agent has a scope for each turn. The turn in which the cut is starts again, with the same input or another one. */
function* copyTurns(parentId: string, runId: string, cut: Cut, kept: Kept): Transaction<void> {
  const before = turnsBefore(cut, kept);
  if (before !== 0) yield* copy.copyTurns(parentId, runId, before === null ? null : before + 1);
}

/** `null`: all. */
function turnsBefore(cut: Cut, { open }: Kept): number | null {
  if (cut.kind === "end") return null;
  const path = open?.root.path ?? (cut.kind === "task" ? cut.path : undefined);
  return Number.parseInt(path ?? "0", 10);
}

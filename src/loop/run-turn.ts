/**
 * One turn of a chat, or one run of an agent's loop. It has a number, committed with a hash of its input when it begins,
 * and counts in a scope of its own: what is said again in the next turn is done again. The same input under the same run id
 * is the same turn: it goes on, or, once it has ended, is answered from the record.
 */
import type { ScopeIdentity } from "../definition/call-key.ts";
import { ToolwrightError } from "../errors.ts";
import { scopeHere } from "../invoke/call-here.ts";
import type { Host, Limits } from "../invoke/host.ts";
import { lost } from "./recorded-responses.ts";
import { pathOf, type Scope } from "../invoke/scope.ts";
import { voidApprovalsOfTask } from "../store/tables/approvals.ts";
import { forgetReplayOfTask } from "../store/tables/retention.ts";
import { findScope } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";
import { endTurn, insertTurn, lastTurn, turnByInput, turnOf, type TurnRow } from "../store/tables/turns.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { decode, encode } from "../util/encode.ts";
import { digest } from "../util/hash.ts";
import type { OpenRuntime } from "../runtime/create-runtime.ts";

export interface TurnOptions {
  readonly runId: string;
  /** What drives it. Turns of different kinds never go on with each other. */
  readonly kind: string;
  readonly inputHash: string;
  /** What it resumes with, whatever the caller says then. */
  readonly began: unknown;
  /** Whether this input may come after what is on record. */
  readonly follows: (record: { readonly first: PastTurn; readonly last: PastTurn }) => boolean;
  /** Budgets, cache and breakers start anew with each turn. Default: they are the run's. */
  readonly hasOwnBudget?: boolean | undefined;
  readonly limits?: Limits | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PastTurn {
  readonly began: unknown;
  /** Of one that has ended. */
  readonly result: unknown;
}

export interface Turn {
  readonly scope: Scope;
  /** From 1. */
  readonly number: number;
  readonly began: unknown;
  /** Keeps what the turn came to; what was needed to resume it is not kept any longer. */
  end(result: unknown): Promise<void>;
}

const NODE = "main";

/**
 * @param drive is not called for a turn that has ended
 * @param replay makes the result of what was kept
 * @throws TOOL_RUN_TAKEN, TOOL_RUN_CONFLICT
 */
export async function runTurn<T>(
  runtime: OpenRuntime,
  options: TurnOptions,
  drive: (turn: Turn) => Promise<T>,
  replay: (result: unknown, turn: number) => T,
): Promise<T> {
  const { runId, limits, signal } = options;
  const { host } = runtime;
  const chosen = await host.store.read(() => chooseTurn(options));
  if (chosen.resultJson !== null) {
    noteRecorded(host, runId);
    return replay(decode(chosen.resultJson), chosen.turn);
  }
  const task = { runId, nodeId: NODE, iteration: chosen.turn - 1, limits, signal };
  const drivenIn = async (): Promise<T> => {
    const scope = scopeHere() as Scope;
    const row = await begin(host, scope, chosen.turn, options);
    if (row.resultJson !== null) return replay(decode(row.resultJson), chosen.turn);
    return drive({
      scope,
      number: chosen.turn,
      began: decode(row.beganJson),
      end: (result) => end(host, scope, chosen.turn, encode(result)),
    });
  };
  return runtime.run(task, drivenIn, { budgetId: chosen.budgetId ?? runId });
}

/** Whoever has changed the code and starts the program again would wonder why nothing changed. */
function noteRecorded(host: Host, runId: string): void {
  host.warnOnce(
    "recorded answer",
    `run "${runId}" has ended, so this is its recorded answer; the model was not asked, and nothing was run. ` +
      "Use another runId to start over.",
  );
}

/** The turn on record that began with this input, or the next one. */
function* chooseTurn(options: TurnOptions): Transaction<TurnRow> {
  const { runId, kind, inputHash, began, follows, hasOwnBudget = false } = options;
  const last = yield* lastTurn(runId);
  const turn = (last?.turn ?? 0) + 1;
  const next: TurnRow = {
    runId,
    turn,
    kind,
    inputHash,
    beganJson: encode(began),
    resultJson: null,
    // The first one's are the run's: that is where people look for them.
    budgetId: hasOwnBudget && turn > 1 ? digest(["budget of a turn", runId, turn]) : null,
    isGivenUp: false,
  };
  if (last === undefined) {
    if ((yield* readRun(runId)) !== undefined) throw taken(runId, "belongs to a workflow");
    return next;
  }
  if (last.kind !== kind) throw taken(runId, `belongs to a ${last.kind}`);
  const known = yield* turnByInput(runId, inputHash);
  if (known === undefined) {
    const first = last.turn === 1 ? last : ((yield* turnOf(runId, 1)) ?? last);
    if (!follows({ first: pastOf(first), last: pastOf(last) })) {
      throw taken(runId, "was begun with another input");
    }
    return next;
  }
  if (known.isGivenUp) throw givenUp(runId, known.turn);
  if (known.turn !== last.turn && known.resultJson === null) {
    throw taken(runId, `has left turn ${known.turn} unfinished and is in turn ${last.turn}`);
  }
  return known;
}

function pastOf({ beganJson, resultJson }: TurnRow): PastTurn {
  return { began: decode(beganJson), result: resultJson === null ? undefined : decode(resultJson) };
}

async function begin(host: Host, scope: Scope, turn: number, options: TurnOptions): Promise<TurnRow> {
  const { runId } = options;
  const previous = identityOf(runId, turn - 1);
  for (;;) {
    const holder = (await host.store.read(() => findScope(previous)))?.ownerId ?? null;
    if (holder !== null && (holder === host.ownerId || (await host.isOwnerAlive(holder)))) {
      throw busy(runId, turn - 1);
    }
    const row = await host.store.transaction(function* () {
      yield* assertOwned(scope);
      const chosen = yield* chooseTurn(options);
      if (chosen.turn !== turn) throw busy(runId, turn);
      const before = yield* findScope(previous);
      // Somebody has gone on with the turn before: judge that one.
      if ((before?.ownerId ?? null) !== holder) return undefined;
      const isNew = (yield* insertTurn(chosen, host.clock.now())) > 0;
      // Who says something else does not wait for what was asked before.
      if (isNew && before !== undefined) yield* voidApprovalsOfTask(previous);
      return chosen;
    }, "normal");
    if (row !== undefined) return row;
  }
}

async function end(host: Host, scope: Scope, turn: number, resultJson: string): Promise<void> {
  const { runId, path } = scope.identity;
  await host.store.transaction(function* () {
    yield* assertOwned(scope);
    yield* endTurn(runId, turn, resultJson, host.clock.now());
    yield* forgetReplayOfTask(runId, NODE, path);
    yield* voidApprovalsOfTask(scope.identity);
  }, "normal");
}

/** Locks the scope, so that it cannot be taken over in the meantime. */
function* assertOwned(scope: Scope): Transaction<void> {
  const row = yield* findScope(scope.identity);
  if (row?.epoch !== scope.writer.epoch) throw lost(scope);
}

function identityOf(runId: string, turn: number): ScopeIdentity {
  return { runId, nodeId: NODE, iteration: turn - 1, path: pathOf([turn - 1]), parentKey: "" };
}

function taken(runId: string, how: string): ToolwrightError {
  return new ToolwrightError("TOOL_RUN_TAKEN", `Run "${runId}" ${how}.`, { details: { runId } });
}

function givenUp(runId: string, turn: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_DELETED",
    `Turn ${turn} of run "${runId}" was left unfinished, and retention has deleted what it would have gone on with.`,
    { details: { runId, turn }, effect: "none" },
  );
}

function busy(runId: string, turn: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_CONFLICT",
    `Turn ${turn} of run "${runId}" is open already, here or in another process that is alive.`,
    { details: { runId, turn } },
  );
}

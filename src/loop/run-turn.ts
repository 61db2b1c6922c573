/**
 * One turn of a chat, or one invoke of an agent. It has a number, committed with a hash of its input when it starts, and
 * its own scope: an equal call in the next turn runs again. The same input under the same run id is the same turn: it
 * resumes, or, once it has ended, returns its stored result.
 */
import type { ScopeIdentity } from "../definition/call-key.ts";
import { ToolwrightError } from "../errors.ts";
import { currentScope } from "../invoke/call-in-context.ts";
import type { Host, Limits } from "../invoke/host.ts";
import type { AgentAbout } from "../invoke/telemetry.ts";
import { endReplay } from "../invoke/recording/keep-recording.ts";
import { fencedScope } from "./recorded-responses.ts";
import { pathOf, type Scope } from "../invoke/scope.ts";
import { voidApprovalsOfTask } from "../store/tables/approvals.ts";
import { turnPart } from "../store/tables/recordings.ts";
import { findScope, peekScope, sealScopes } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";
import {
  beganJsonOf,
  endTurn,
  forgetMessages,
  insertTurn,
  lastTurn,
  shortenBegan,
  turnByInput,
  type TurnRow,
} from "../store/tables/turns.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { decode, encode } from "../util/encode.ts";
import { digest } from "../util/hash.ts";
import type { OpenRuntime } from "../runtime/create-runtime.ts";

export interface TurnOptions<T> {
  readonly runId: string;
  /** The loop that runs it. A run holds turns of one kind. */
  readonly kind: string;
  readonly inputHash: string;
  /** The input that is stored; a resume uses it instead of the input of the caller. */
  readonly began: unknown;
  /** Whether this input may follow the last turn. Default: any input may. */
  readonly follows?: ((last: PastTurn) => boolean) | undefined;
  /** The last turn, if it was read before: its result is not decoded again. */
  readonly lastTurn?: PastTurn | undefined;
  /** Whether it belongs to the run whose first turn had this input. Default: yes, and that input is not read. */
  readonly continues?: ((began: unknown) => boolean) | undefined;
  /** Each turn has its own budgets, cache and breakers. Default: the turns of a run share them. */
  readonly hasOwnBudget?: boolean | undefined;
  /** Shown in lists of runs. */
  readonly name: string;
  /** What a worker that resumes the run needs. */
  readonly input?: unknown;
  /** For telemetry. */
  readonly about?: AgentAbout | undefined;
  readonly statusOf?: ((result: T) => string) | undefined;
  /** Why a turn failed that returned a result. */
  readonly failureOf?: ((result: T) => Error | undefined) | undefined;
  readonly limits?: Limits | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Decodes its result once, when that is read: it has all messages that the turn added. */
export class PastTurn {
  readonly row: TurnRow;
  #result: { readonly value: unknown } | undefined;

  constructor(row: TurnRow) {
    this.row = row;
  }

  isStill({ turn, resultJson }: TurnRow): boolean {
    return turn === this.row.turn && resultJson === this.row.resultJson;
  }

  /** `undefined` until it ends. */
  get result(): unknown {
    const { resultJson } = this.row;
    return (this.#result ??= { value: resultJson === null ? undefined : decode(resultJson) }).value;
  }
}

export interface Turn {
  readonly scope: Scope;
  /** From 1. */
  readonly number: number;
  /** The id that its budgets are counted under. */
  readonly budgetId: string;
  /** Its input is the input of this call. Otherwise an earlier process stored it. */
  readonly isOwnInput: boolean;
  /** Decodes its input as stored, which may be a long conversation. */
  readBegan(): unknown;
  /**
   * The turn has ended. When the loop returns, its result is stored, and what only a resume would need is deleted.
   * @param began replaces the stored input, without what only a resume would need
   */
  end(result: unknown, began?: unknown): void;
}

/** A turn whose result was stored before. */
export type EndedTurn = Pick<Turn, "number" | "budgetId">;

const NODE = "main";

type ChosenBy = Pick<
  TurnOptions<never>,
  "runId" | "kind" | "inputHash" | "follows" | "lastTurn" | "continues" | "hasOwnBudget"
>;

/**
 * @param drive runs the turn; not called when it has ended
 * @param replay builds the result from the stored one
 * @throws TOOL_RUN_TAKEN, TOOL_RUN_CONFLICT
 */
export async function runTurn<T>(
  runtime: OpenRuntime,
  options: TurnOptions<T>,
  drive: (turn: Turn) => Promise<T>,
  replay: (result: unknown, turn: EndedTurn) => T,
): Promise<T> {
  const { runId, limits, signal } = options;
  const { host } = runtime;
  const beganJson = encode(options.began);
  const chosen = await host.store.read(() => chooseTurn(options));
  const number = chosen.turn;
  const budgetId = chosen.budgetId ?? runId;
  if (chosen.resultJson !== null && !(await isAbandoned(host, identityOf(runId, number)))) {
    noteRecorded(host, runId);
    return replay(decode(chosen.resultJson), { number, budgetId });
  }
  const task = { runId, nodeId: NODE, iteration: number - 1, limits, signal };
  let refusal: unknown;
  let storeResult: (() => Transaction<void>) | undefined;
  const runInScope = async (): Promise<T> => {
    const scope = currentScope() as Scope;
    const started = await startTurn(host, scope, number, beganJson, options).catch((error: unknown) => {
      if (ToolwrightError.is(error) && error.code === "TOOL_RUN_CONFLICT") refusal = error;
      throw error;
    });
    if (started.resultJson !== null) return replay(decode(started.resultJson), { number, budgetId });
    return drive({
      scope,
      number,
      budgetId,
      isOwnInput: started.beganJson === beganJson,
      readBegan: () => decode(started.beganJson),
      end: (result, began) => {
        const json = { result: encode(result), began: began === undefined ? undefined : encode(began) };
        storeResult = () => end(host, scope, number, json);
      },
    });
  };
  return runtime.run(task, runInScope, {
    budgetId,
    name: options.name,
    input: options.input,
    failureOf: options.failureOf,
    about: options.about,
    statusOf: options.statusOf,
    isRefusal: (error) => error !== undefined && error === refusal,
    storeResult: () => storeResult,
  });
}

/** Versions before this one released the scope after they had stored the result, and their process may have died in between. */
async function isAbandoned(host: Host, identity: ScopeIdentity): Promise<boolean> {
  const holder = (await host.store.read(() => peekScope(identity)))?.ownerId ?? null;
  return holder !== null && !(await host.isOwnerAlive(holder));
}

/** After a change of the code, a second start of the program would otherwise seem to ignore it. */
function noteRecorded(host: Host, runId: string): void {
  host.warnOnce(
    "recorded answer",
    `run "${runId}" has ended, so this is its recorded answer; neither the model nor any tool was called. ` +
      "Use another runId to start over.",
  );
}

interface ChosenTurn extends TurnRow {
  /** The turn before it has not ended. It can no longer resume once this one begins. */
  readonly isReplacement?: boolean;
}

/** The stored turn with this input, or the next one. */
function* chooseTurn(options: ChosenBy): Transaction<ChosenTurn> {
  const { runId, kind, inputHash, follows, continues, hasOwnBudget = false } = options;
  const last = yield* lastTurn(runId);
  const turn = (last?.turn ?? 0) + 1;
  const next: ChosenTurn = {
    runId,
    turn,
    kind,
    inputHash,
    resultJson: null,
    // The first turn uses the budgets of the run: that is where users look for them.
    budgetId: hasOwnBudget && turn > 1 ? digest(["budget of a turn", runId, turn]) : null,
    isGivenUp: false,
    isReplacement: last !== undefined && last.resultJson === null && !last.isGivenUp,
  };
  if (last === undefined) {
    if ((yield* readRun(runId)) !== undefined) throw taken(runId, "belongs to a workflow");
    return next;
  }
  if (last.kind !== kind) throw taken(runId, `belongs to another kind of loop: ${last.kind}`);
  const stored = yield* turnByInput(runId, inputHash);
  if (stored === undefined) {
    const known = options.lastTurn?.isStill(last) === true ? options.lastTurn : new PastTurn(last);
    const mayFollow = follows === undefined || follows(known);
    if (mayFollow && (continues === undefined || continues(decode(yield* beganJsonOf({ runId, turn: 1 })))))
      return next;
    throw taken(runId, "was started with another input");
  }
  if (stored.isGivenUp) throw deletedReplay(runId, stored.turn);
  if (stored.turn !== last.turn && stored.resultJson === null) {
    throw taken(runId, `left turn ${stored.turn} unfinished and is in turn ${last.turn}`);
  }
  return stored;
}

/** @param beganJson is stored if the turn is new */
async function startTurn(
  host: Host,
  scope: Scope,
  turn: number,
  beganJson: string,
  options: ChosenBy,
): Promise<{ readonly resultJson: string | null; readonly beganJson: string }> {
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
      // Another process has taken over the previous turn: check its owner.
      if ((before?.ownerId ?? null) !== holder) return undefined;
      const isNew = yield* insertTurn(chosen, beganJson, host.clock.now());
      // A new input replaces the previous turn. If that one was interrupted, its scope would keep the run open.
      if (isNew && holder !== null) yield* sealScopes(previous);
      // If it waited, its pending approvals are void.
      if (isNew && before !== undefined) yield* voidApprovalsOfTask(previous);
      if (isNew && chosen.isReplacement === true) yield* forgetResume(previous, turn - 1);
      const { resultJson } = chosen;
      return { resultJson, beganJson: isNew || resultJson !== null ? beganJson : yield* beganJsonOf(chosen) };
    }, "normal");
    if (row !== undefined) return row;
  }
}

/** Deletes what only a resume of the turn would need, in plain text. */
function* forgetResume({ runId, path }: ScopeIdentity, turn: number): Transaction<void> {
  yield* endReplay({ runId, task: { nodeId: NODE, path } }, undefined, { runId });
  yield* forgetMessages({ runId, turn });
}

function* end(
  host: Host,
  scope: Scope,
  turn: number,
  json: { readonly result: string; readonly began: string | undefined },
): Transaction<void> {
  const { runId, path } = scope.identity;
  yield* assertOwned(scope);
  yield* endTurn(runId, turn, json.result, host.clock.now());
  if (json.began !== undefined) yield* shortenBegan(runId, turn, json.began);
  const copy = {
    part: turnPart(turn),
    json: function* (): Transaction<string> {
      return `{"input":${yield* beganJsonOf({ runId, turn })},"result":${json.result}}`;
    },
  };
  yield* endReplay({ runId, task: { nodeId: NODE, path } }, copy, { runId });
  yield* voidApprovalsOfTask(scope.identity);
}

/** Locks the scope, so that no other process takes it over before the commit. */
function* assertOwned(scope: Scope): Transaction<void> {
  const row = yield* findScope(scope.identity);
  if (row?.epoch !== scope.writer.epoch) throw fencedScope(scope);
}

function identityOf(runId: string, turn: number): ScopeIdentity {
  return { runId, nodeId: NODE, iteration: turn - 1, path: pathOf([turn - 1]), parentKey: "" };
}

function taken(runId: string, how: string): ToolwrightError {
  return new ToolwrightError("TOOL_RUN_TAKEN", `Run "${runId}" ${how}.`, { details: { runId } });
}

function deletedReplay(runId: string, turn: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_DELETED",
    `Turn ${turn} of run "${runId}" did not finish, and retention has deleted the responses that a resume needs.`,
    {
      details: { runId, turn },
      effect: "none",
      hint: "Send a new message, which starts the next turn, or use another run id.",
    },
  );
}

function busy(runId: string, turn: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_CONFLICT",
    `Turn ${turn} of run "${runId}" is already running, here or in another live process.`,
    { details: { runId, turn } },
  );
}

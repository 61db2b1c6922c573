/**
 * A scope is where equal calls are counted. It assigns every call its index among equal calls, synchronously and in the order
 * of the calls, and every row its number.
 */
import {
  callKey,
  forkedKey,
  KEY_VERSION,
  type KeyVersion,
  type ScopeIdentity,
  scopeText,
} from "../definition/call-key.ts";
import { ToolwrightError } from "../errors.ts";
import {
  callsByPendingId,
  type CopiedCallKey,
  copiedCallsById,
  highestSeqOfTask,
} from "../store/tables/calls.ts";
import { type Writer } from "../store/tables/write-calls.ts";
import { type Labels, reopenRun } from "../store/tables/runs.ts";
import { runReverted } from "../store/tables/tombstones.ts";
import { ensureScope, keysOfScope, type ScopeRow } from "../store/tables/scopes.ts";
import type { ToolSettings } from "../definition/tool-settings.ts";
import type { Call } from "./call.ts";
import type { RunKind } from "./events.ts";
import type { Host, Limits } from "./host.ts";
import { CallIndexes } from "./call-indexes.ts";
import type { Try } from "./try.ts";

export interface ScopeOptions {
  readonly identity: ScopeIdentity;
  readonly attempt: number;
  readonly limits?: Limits | undefined;
  /** The kind of the run. Default: `program`. An inner scope has the kind of its outer scope. */
  readonly kind?: RunKind | undefined;
  /** How a new run is listed. */
  readonly runName?: string | undefined;
  readonly labels?: Labels | undefined;
  /** The id under which budgets, cache and breakers are stored. Default: the run id. */
  readonly budgetId?: string | undefined;
  readonly settings?: Partial<ToolSettings> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The enclosing call. */
  readonly parent?: Call | undefined;
  /** The run's scope, if this is the scope of a turn. It counts separately, and its rows belong to the run's scope. */
  readonly turnOf?: Scope | undefined;
  /** Whether turns of a chat count separately: a program names only the run, so all of its turns come in one scope. */
  readonly hasTurns?: boolean | undefined;
  /** For an owned scope: its row, once this runtime has taken it. */
  readonly owned?: Promise<ScopeRow> | undefined;
  /** The try of the parent that makes the calls of this scope, and the keys of the calls of earlier tries. */
  readonly ofTry?: Try | undefined;
  readonly triedBefore?: ReadonlySet<string> | undefined;
  /** Outside any run: nothing is stored. */
  readonly detached?: boolean | undefined;
}

export class Scope {
  readonly host: Host;
  readonly identity: ScopeIdentity;
  /** The scope's part of every key in it. */
  readonly text: string;
  readonly attempt: number;
  readonly limits: Limits;
  readonly settings: Partial<ToolSettings>;
  readonly signal: AbortSignal | undefined;
  readonly parent: Call | undefined;
  /** Outside any run. */
  readonly isDetached: boolean;
  readonly ofTry: Try | undefined;
  /** The scope of a task that a runtime owns. Bare calls (without a task) are not owned, and their keys are not collected. */
  readonly isOwned: boolean;
  /** All keys of this scope: for the next try of its parent, and for a loop whose replay diverges. */
  readonly assigned = new Set<string>();
  /** Calls of this scope that have not ended. */
  readonly open = new Set<Call>();
  /** For a root: the keys of calls in and below it that wait for approval. */
  readonly waiting = new Set<string>();
  /** For a root: a call in or below it has arguments or outputs that must be removed from the store later. */
  holdsSecrets = false;
  /** A loop in it has asked a recorded model, so readers of the run may follow it. */
  asksModel = false;
  /**
   * For the scope of bare calls: loading it has listed its run as running, and its first call has not ended yet. `new`: the
   * run has no other scope.
   */
  opensRun: "new" | "known" | undefined;
  /** The indexes of its calls among equal calls. */
  readonly indexes = new CallIndexes();
  /** Resolves when the scope is loaded from the store. */
  readonly ready: Promise<void>;
  /** Set when the store failed or the run was lost: the task writes nothing more. */
  failure: ToolwrightError | undefined;
  /** Called once, when that happens. */
  onFailure: ((error: ToolwrightError) => void) | undefined;

  readonly #kind: RunKind;
  readonly #runName: string;
  readonly #labels: Labels | undefined;
  readonly #budgetId: string;
  readonly #outer: Scope | undefined;
  readonly #hasTurns: boolean;
  readonly #turns = new Map<number, Scope>();
  readonly #requests = new Map<string, number>();
  #id = 0;
  #originId: string | undefined;
  #loops = 0;
  #agents = 0;
  #epoch: number | null = null;
  #keyVersion: KeyVersion | undefined;
  #seq = 0;
  #recorded = new Set<string>();
  readonly #triedBefore: Set<string>;
  #pending: ReadonlyMap<string, Map<string, boolean>> = new Map();
  #copied: ReadonlyMap<string, CopiedCallKey[]> = new Map();

  constructor(host: Host, options: ScopeOptions) {
    this.host = host;
    this.identity = options.identity;
    this.text = scopeText(options.identity);
    this.attempt = options.attempt;
    this.limits = options.limits ?? {};
    this.#kind = options.kind ?? "program";
    this.#runName = options.runName ?? "";
    this.#labels = options.labels;
    this.#budgetId = options.budgetId ?? options.identity.runId;
    this.settings = options.settings ?? {};
    this.signal = options.signal;
    this.parent = options.parent;
    this.isDetached = options.detached === true;
    this.#outer = options.parent?.scope ?? options.turnOf;
    this.#hasTurns = options.hasTurns === true;
    this.isOwned = options.owned !== undefined || options.turnOf?.isOwned === true;
    this.ofTry = options.ofTry;
    this.#triedBefore = new Set(options.triedBefore);
    this.ready = this.isDetached ? Promise.resolve() : this.#load(options.owned);
    // Callers that await it see the failure. Without this handler, a scope that is never awaited would crash the process.
    this.ready.catch(() => undefined);
  }

  /** The outermost scope, which has the attempt, the epoch and the row numbers. */
  get root(): Scope {
    return this.#outer?.root ?? this;
  }

  get id(): number {
    return this.#id;
  }

  get kind(): RunKind {
    return this.#outer?.kind ?? this.#kind;
  }

  /** Shared by all nested scopes: a sub-agent spends the budget of its caller. */
  get budgetId(): string {
    // Not `root.#budgetId`: the root may be an instance of another copy of this class.
    return this.#outer?.budgetId ?? this.#budgetId;
  }

  /** The version of the key derivation. `undefined` until the scope is loaded. */
  get keyVersion(): KeyVersion | undefined {
    return this.isDetached ? KEY_VERSION : this.#keyVersion;
  }

  /** In a fork: the first run of the line. `undefined` until the scope is loaded. */
  get originId(): string | undefined {
    return this.#originId;
  }

  /**
   * The key of a call in this scope. Equal calls of a run and its forks have one origin key in common; each run derives its own
   * keys from it.
   */
  keyOf(index: number | string, text: string): { readonly key: string; readonly originKey?: string } {
    if (this.#originId === undefined) return { key: callKey(this.text, index, text) };
    const { nodeId, iteration, path } = this.identity;
    const parentKey = this.originParentKey;
    const origin = scopeText({ runId: this.#originId, nodeId, iteration, path, parentKey });
    const originKey = callKey(origin, index, text);
    return { key: forkedKey(this.identity.runId, originKey), originKey };
  }

  /** In a fork: the origin key of the enclosing call. */
  get originParentKey(): string {
    return this.parent === undefined ? (this.#outer?.originParentKey ?? "") : (this.parent.originKey ?? "");
  }

  get writer(): Writer {
    const { attempt } = this;
    if (this.#outer === undefined) return { rootScopeId: this.#id, epoch: this.#epoch, attempt };
    const { rootScopeId, epoch } = this.#outer.writer;
    return { rootScopeId, epoch, attempt };
  }

  /** Inner calls take their number from the task, so that the log of a task has one order. */
  nextSeq(): number {
    if (this.#outer !== undefined) return this.#outer.nextSeq();
    this.#seq += 1;
    return this.#seq;
  }

  /** After another process took the number. */
  skipSeqTo(seq: number): void {
    if (this.#outer !== undefined) this.#outer.skipSeqTo(seq);
    else this.#seq = Math.max(this.#seq, seq);
  }

  /**
   * The scope of a turn of a chat: an equal call in the next turn is another call, and runs. The first turn uses this scope
   * itself.
   */
  turn(number: number): Scope {
    if (!this.#hasTurns || number < 2) return this;
    const { host, identity, attempt, limits, settings } = this;
    const existing = this.#turns.get(number);
    if (existing !== undefined) return existing;
    const path = `${identity.path}#${number}`;
    const scope = new Scope(host, {
      identity: { ...identity, path },
      attempt,
      limits,
      settings,
      turnOf: this,
    });
    this.#turns.set(number, scope);
    return scope;
  }

  /** The number of the next loop that runs in this scope, from 1. */
  nextLoop(): number {
    this.#loops += 1;
    return this.#loops;
  }

  /** The number of the next agent that telemetry sees in this scope, from 0. */
  nextAgent(): number {
    this.#agents += 1;
    return this.#agents - 1;
  }

  /** The number of earlier equal model requests in this scope. */
  countRequest(requestHash: string): number {
    const count = this.#requests.get(requestHash) ?? 0;
    this.#requests.set(requestHash, count + 1);
    return count;
  }

  /** The request failed: the next equal one takes its number. */
  uncountRequest(requestHash: string, count: number): void {
    if (this.#requests.get(requestHash) === count + 1) this.#requests.set(requestHash, count);
  }

  /** `false`: certainly neither logged when the scope was opened, nor since then by this scope. */
  mayBeRecorded(key: string): boolean {
    return this.#recorded.has(key) || this.#triedBefore.has(key);
  }

  /** An error under this key belongs to an earlier try, and is not the outcome of this one. */
  wasTried(key: string): boolean {
    return this.#triedBefore.has(key);
  }

  /** The caller retries the call: the next call with the same key is another try. */
  noteTried(key: string): void {
    this.#triedBefore.add(key);
  }

  /** A call that waits has a row, which the next equal call must find. */
  noteRecorded(key: string): void {
    this.#recorded.add(key);
  }

  /**
   * The index of the equal call that waits under this `toolCallId`: a loop that resumes from its message history makes only
   * that call. The id only chooses among equal calls of this scope, so a forged one gains nothing. Models reuse ids: if the
   * call with the counted index has this id, it is that call.
   */
  indexOfPending(toolCallId: string, text: string, counted: number): number {
    const calls = this.#pending.get(toolCallId);
    if (calls === undefined || calls.has(this.keyOf(counted, text).key)) return counted;
    for (let index = 0; index <= this.#recorded.size; index += 1) {
      if (calls.get(this.keyOf(index, text).key) === true) return index;
    }
    return counted;
  }

  /**
   * In a fork: the next call that the parent made under this `toolCallId`, which models reuse. The recorded response that asks
   * for it has its arguments redacted, so they do not lead to its key.
   */
  takeCopied(toolCallId: string, toolName: string): CopiedCallKey | undefined {
    return this.#takeCopied(toolCallId, (copied) => copied.toolName === toolName);
  }

  /** In a fork: this call was found by its arguments, so it cannot also be found by its id. */
  noteFound(toolCallId: string, key: string): void {
    this.#takeCopied(toolCallId, (copied) => copied.key === key);
  }

  #takeCopied(toolCallId: string, isIt: (copied: CopiedCallKey) => boolean): CopiedCallKey | undefined {
    const calls = this.#copied.get(toolCallId) ?? [];
    const index = calls.findIndex(isIt);
    return index < 0 ? undefined : calls.splice(index, 1)[0];
  }

  /** A pending call now has an outcome: the next call with its `toolCallId` is another call. */
  noteAnswered(toolCallId: string, key: string): void {
    this.#pending.get(toolCallId)?.set(key, false);
  }

  /**
   * A call could not be stored. Its enclosing calls must not end as if it had been: a resume continues them. A task ends with
   * this error; bare calls are independent, so the next one may succeed.
   */
  fail(error: ToolwrightError): void {
    const root = this.root;
    for (let outer = this.parent; outer !== undefined; outer = outer.scope.parent) outer.failure ??= error;
    if (!root.isOwned || root.failure !== undefined) return;
    root.failure = error;
    root.onFailure?.(error);
  }

  async #load(owned: Promise<ScopeRow> | undefined): Promise<void> {
    const root = this.root;
    if (root !== this) await root.ready;
    const { host, identity, attempt, kind } = this;
    const taken = await owned;
    const isRecorded = host.recording === "keep";
    const run = { kind, name: this.#runName, labels: this.#labels, ownerId: host.ownerId, isRecorded };
    const isBare = taken === undefined && root === this;
    const loaded = await host.store.transaction(function* () {
      const now = host.clock.now();
      const row = taken ?? (yield* ensureScope(identity, attempt, now, run));
      if (row.isSealed && isBare) throw runReverted(identity.runId);
      if (isBare && row.isOfNewRun !== true)
        yield* reopenRun(identity.runId, { kind: "call", ownerId: host.ownerId }, now);
      // A new run has no calls.
      if (row.isOfNewRun === true) return { row, keys: new Set<string>(), pending: new Map(), seq: 0 };
      const seq = yield* highestSeqOfTask(identity, attempt);
      const copied = row.originId === null ? undefined : yield* copiedCallsById(row.id, attempt);
      return { row, keys: yield* keysOfScope(row.id), pending: yield* callsByPendingId(row.id), seq, copied };
    }, "normal");
    if (loaded.row.attempt > attempt && root === this) {
      throw staleAttempt(this, loaded.row.attempt);
    }
    if (isBare) this.opensRun = loaded.row.isOfNewRun === true ? "new" : "known";
    this.#id = loaded.row.id;
    this.#originId = loaded.row.originId ?? undefined;
    this.#epoch = taken === undefined ? null : taken.epoch;
    this.#keyVersion = loaded.row.keyVersion;
    this.#recorded = loaded.keys;
    this.#pending = loaded.pending;
    this.#copied = loaded.copied ?? new Map();
    this.skipSeqTo(loaded.seq);
  }
}

export function staleAttempt(scope: Scope, current: number): ToolwrightError {
  const { runId, nodeId } = scope.identity;
  return new ToolwrightError(
    "TOOL_ATTEMPT_STALE",
    `Attempt ${scope.attempt} of task "${nodeId}" in run "${runId}" is over: attempt ${current} has replaced it.`,
    { details: { runId, nodeId, attempt: scope.attempt, current }, effect: "none" },
  );
}

/** @param turn of a chat, from 1. The first one has no suffix: a run that is not a chat has one turn. */
export function pathOf(loop: readonly number[], turn: number | string = 1): string {
  return turn === 1 ? loop.join(".") : `${loop.join(".")}#${turn}`;
}

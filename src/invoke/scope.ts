/**
 * Where calls count. A scope gives every call its place among equal calls, synchronously and in the order in which
 * the calls are made, and every row its number.
 */
import {
  callKey,
  KEY_VERSION,
  type KeyVersion,
  type ScopeIdentity,
  scopeText,
} from "../definition/call-key.ts";
import { ToolwrightError } from "../errors.ts";
import { callsByPendingId, highestSeqOfTask } from "../store/tables/calls.ts";
import { type Writer } from "../store/tables/write-calls.ts";
import { ensureScope, keysOfScope, type ScopeRow } from "../store/tables/scopes.ts";
import type { ToolSettings } from "../definition/context.ts";
import type { Call } from "./call.ts";
import type { RunKind } from "./events.ts";
import type { Host, Limits } from "./host.ts";
import { Places } from "./places.ts";
import type { Try } from "./try.ts";

export interface ScopeOptions {
  readonly identity: ScopeIdentity;
  readonly attempt: number;
  readonly limits?: Limits | undefined;
  /** Of the run. Default: `program`. A scope inside another one has the kind of that one. */
  readonly kind?: RunKind | undefined;
  /** What its budgets, its cache and its breakers are kept under. Default: the run. */
  readonly budgetId?: string | undefined;
  readonly settings?: Partial<ToolSettings> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The call that this scope is inside of. */
  readonly parent?: Call | undefined;
  /** The scope of the run that this one is a turn of: it counts for itself, and is written as a part of that one. */
  readonly turnOf?: Scope | undefined;
  /** A program names the run only, so that each turn of a chat in it has to be told apart. */
  readonly hasTurns?: boolean | undefined;
  /** For a scope that is owned: its row, once it is taken. */
  readonly owned?: Promise<ScopeRow> | undefined;
  /** The try of the parent that makes the calls of this scope, and the keys that earlier tries gave. */
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
  /** A task that somebody owns. Bare calls count as long as their runtime lives, so nothing is kept of each. */
  readonly isOwned: boolean;
  /** All keys given in this scope, for the next try of its parent, and for a loop that goes another way than on record. */
  readonly assigned = new Set<string>();
  /** Calls of this scope that have not ended. */
  readonly open = new Set<Call>();
  /** Keys of calls in and below this scope, if it is a root, that were told to wait for a person. */
  readonly waiting = new Set<string>();
  /** Of a root: a call in or below it has arguments or outputs that must not stay in the store. */
  holdsSecrets = false;
  /** The indices of its calls among equal ones. */
  readonly places = new Places();
  /** Resolves when the store knows the scope. */
  readonly ready: Promise<void>;
  /** Set when the store failed or the run was lost: the task records nothing more. */
  failure: ToolwrightError | undefined;
  /** Called once, when that happens. */
  onFailure: ((error: ToolwrightError) => void) | undefined;

  readonly #kind: RunKind;
  readonly #budgetId: string;
  readonly #outer: Scope | undefined;
  readonly #hasTurns: boolean;
  readonly #turns = new Map<number, Scope>();
  readonly #requests = new Map<string, number>();
  #id = 0;
  #loops = 0;
  #epoch: number | null = null;
  #keyVersion: KeyVersion | undefined;
  #seq = 0;
  #recorded = new Set<string>();
  readonly #triedBefore: Set<string>;
  #pending: ReadonlyMap<string, Map<string, boolean>> = new Map();

  constructor(host: Host, options: ScopeOptions) {
    this.host = host;
    this.identity = options.identity;
    this.text = scopeText(options.identity);
    this.attempt = options.attempt;
    this.limits = options.limits ?? {};
    this.#kind = options.kind ?? "program";
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
    // Whoever awaits it sees the failure; nobody may.
    this.ready.catch(() => undefined);
  }

  /** The scope at the top of this one, which holds the attempt, the epoch and the numbers. */
  get root(): Scope {
    return this.#outer?.root ?? this;
  }

  get id(): number {
    return this.#id;
  }

  get kind(): RunKind {
    return this.#outer?.kind ?? this.#kind;
  }

  /** Shared by all that is nested in here: what a sub-agent uses, its caller has used. */
  get budgetId(): string {
    // By way of the scope around it and not of `root.#…`: that one may come from another copy of this class.
    return this.#outer?.budgetId ?? this.#budgetId;
  }

  /** How the keys of its calls are derived. `undefined` until the store has answered. */
  get keyVersion(): KeyVersion | undefined {
    return this.isDetached ? KEY_VERSION : this.#keyVersion;
  }

  get writer(): Writer {
    const outer = this.#outer?.writer;
    return { rootScopeId: this.#id, epoch: this.#epoch, ...outer, attempt: this.attempt };
  }

  /** Nested calls have numbers of their task, so that a task's log reads in one order. */
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
   * Where the calls of a turn of a chat count: what is said again in the next turn is done again. The first turn counts in
   * this scope itself.
   */
  turn(number: number): Scope {
    if (!this.#hasTurns || number < 2) return this;
    const { host, identity, attempt, limits, settings } = this;
    const known = this.#turns.get(number);
    if (known !== undefined) return known;
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

  /** The number of a further loop that is driven inside of this scope, from 1. */
  nextLoop(): number {
    this.#loops += 1;
    return this.#loops;
  }

  /** How often this was asked before in this scope, whoever asked. */
  countRequest(requestHash: string): number {
    const count = this.#requests.get(requestHash) ?? 0;
    this.#requests.set(requestHash, count + 1);
    return count;
  }

  /** `false` means certainly not on record when the scope was opened, nor since by this scope. */
  mayBeRecorded(key: string): boolean {
    return this.#recorded.has(key) || this.#triedBefore.has(key);
  }

  /** An error under this key is that of an earlier try, and not the outcome of this one. */
  wasTried(key: string): boolean {
    return this.#triedBefore.has(key);
  }

  /** Whoever makes the call retries it: under the same key, the next one is a further try. */
  noteTried(key: string): void {
    this.#triedBefore.add(key);
  }

  /** A row that will be asked for again: a call that waits. */
  noteRecorded(key: string): void {
    this.#recorded.add(key);
  }

  /**
   * Which of several equal calls waits under this id of the model's: a loop that goes on from its message history makes
   * only that one. The id chooses among equal calls of this scope and nothing else, so a forged one gains nothing. Models
   * use an id again: what was called under it at the place that the count gives is that call.
   */
  placeOfPending(toolCallId: string, text: string, counted: number): number {
    const calls = this.#pending.get(toolCallId);
    if (calls === undefined || calls.has(callKey(this.text, counted, text))) return counted;
    for (let index = 0; index <= this.#recorded.size; index += 1) {
      if (calls.get(callKey(this.text, index, text)) === true) return index;
    }
    return counted;
  }

  /** A call that waited has been answered: what comes under its id from now on is another one. */
  noteAnswered(toolCallId: string, key: string): void {
    this.#pending.get(toolCallId)?.set(key, false);
  }

  /**
   * A call could not be recorded. The calls around it must not end as if it had: they are left for a resume. A task ends
   * with this error; bare calls stand for themselves, so the next one may work.
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
    const { host, identity, attempt } = this;
    const taken = await owned;
    const loaded = await host.store.transaction(function* () {
      const row = taken ?? (yield* ensureScope(identity, attempt, host.clock.now()));
      const seq = yield* highestSeqOfTask(identity, attempt);
      return { row, keys: yield* keysOfScope(row.id), pending: yield* callsByPendingId(row.id), seq };
    }, "normal");
    if (loaded.row.attempt > attempt && root === this) {
      throw staleAttempt(this, loaded.row.attempt);
    }
    this.#id = loaded.row.id;
    this.#epoch = taken === undefined ? null : taken.epoch;
    this.#keyVersion = loaded.row.keyVersion;
    this.#recorded = loaded.keys;
    this.#pending = loaded.pending;
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

/** @param turn of a chat, from 1. The first one has no mark: a run that is no chat is one turn. */
export function pathOf(loop: readonly number[], turn: number | string = 1): string {
  return turn === 1 ? loop.join(".") : `${loop.join(".")}#${turn}`;
}

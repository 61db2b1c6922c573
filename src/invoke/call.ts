/** One call on its way through the pipeline: its data from the start, and the state that the stages add (see `Progress`). */
import { KEY_VERSION } from "../definition/call-key.ts";
import { isUnrepeatable, type ToolSpec } from "../definition/tool-spec.ts";
import type { Transaction } from "../store/store.ts";
import { tryAround } from "./ambient.ts";
import { Progress } from "./call-progress.ts";
import { type LegacyIdentity, identifyByVersion1, writeArguments } from "./call-text.ts";
import { sourceOf } from "./deliver-event.ts";
import type { CallEventDetails } from "./events.ts";
import type { Host } from "./host.ts";
import type { HostLoop } from "./host-loop.ts";
import type { Result } from "./outcome.ts";
import { hidesSomething } from "./storable.ts";
import { Scope } from "./scope.ts";
import type { CallSpan } from "./telemetry.ts";
import type { Try } from "./try.ts";
import type { ToolwrightError } from "../errors.ts";
import { toStorableText } from "../util/storable-text.ts";

export interface CallOptions {
  readonly toolCallId?: string | undefined;
  /** Replaces the index among equal calls. */
  readonly callKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Added to `ctx` for this call only. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** The same, from the loop that makes the call. A capability of the runtime with the same name wins. */
  readonly loopContext?: Readonly<Record<string, unknown>> | undefined;
  /** Receives the items that a generator yields, before the result. */
  readonly onYield?: ((item: unknown) => void) | undefined;
  /** Identifies the model response that contains the call. Calls of one response are different calls, even if equal. */
  readonly batch?: object | string | undefined;
  /** Identifies the call among all calls of the loop: the same site is the same call, even after it has ended. */
  readonly site?: string | undefined;
  /** Retries a failed call at the same site, if that is safe. Otherwise the stored error is returned. */
  readonly retriesErrors?: boolean | undefined;
  /** The library whose loop makes the call, if it has its own control flow. */
  readonly hostLoop?: HostLoop | undefined;
  /** A model reads the result and can verify the effect of an interrupted call. Default: the call has a `toolCallId`. */
  readonly readByModel?: boolean | undefined;
  /** The name that the model called, if it differs from the tool's own. */
  readonly modelName?: string | undefined;
  /** What the messages of the loop say about this call: the turn of the chat, and the number of its earlier equal calls. */
  readonly history?:
    | {
        readonly turn: number;
        readonly earlier: number;
        readonly isResumed: boolean;
        readonly continues?: number | undefined;
      }
    | undefined;
  /** For calls outside any run, which have no log to take a number from. */
  readonly seq?: number | undefined;
  /** A decision in the message history. An approval counts only if the runtime trusts the history. */
  readonly messageDecision?: { readonly approved: boolean; readonly reason?: string | undefined } | undefined;
}

export type Guard = () => Transaction<void>;
export type Settler = (result: Result) => Transaction<void>;

/** A promise that is created on first use: nothing waits for most calls. */
class Ended {
  #isOver = false;
  #waiters: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  get promise(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#waiters ??= Promise.withResolvers<void>();
    return this.#waiters.promise;
  }

  resolve(): void {
    this.#isOver = true;
    this.#waiters?.resolve();
  }
}

export class Call extends Progress {
  // Written by the constructor.

  readonly host: Host;
  readonly spec: ToolSpec;
  readonly scope: Scope;
  /** The enclosing call, even if this call counts in another scope. */
  readonly caller: Call | undefined;
  /** The try that makes the call, even if the call counts in another run. */
  readonly madeBy: Try | undefined;
  /** The arguments as sent. */
  readonly args: unknown;
  readonly toolCallId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** `check`: stop before the tool runs, and report whether the call would wait for approval. */
  readonly mode: "run" | "check";
  readonly messageDecision: CallOptions["messageDecision"];
  readonly capabilities: CallOptions["capabilities"];
  readonly loopContext: CallOptions["loopContext"];
  readonly onYield: CallOptions["onYield"];
  readonly isReadByModel: boolean;
  readonly modelName: string | undefined;
  /** The nearest enclosing loop, even for inner calls. */
  readonly hostLoop: HostLoop | undefined;
  /** `hostLoop` itself makes the call. */
  readonly isMadeByLoop: boolean;
  readonly retriesErrors: boolean;
  /** Resolves when the call has returned. `invoke` resolves it. */
  readonly ended = new Ended();

  // Written by the constructor and `identify`; for edited arguments by `journal`, and for a recorded call by `replay`.

  /** The canonical text of the tool and its arguments, unredacted: only in memory. Equal calls have equal texts. */
  argsText: string;
  /** The identity by version 1 of the key derivation, until the store says which version the scope uses. */
  legacy: LegacyIdentity | undefined;
  /** The number of earlier equal calls in the scope, or the caller's own `callKey`. */
  callIndex: number | string;
  /** The redacted text of the tool and its arguments: the key is the hash of it. */
  text: string = "";
  key: string = "";
  /** In a fork: the key of the equal call in the first run of the line. */
  originKey: string | undefined = undefined;
  /**
   * The key that the tool passes on: the call's key, or the digest of its business key, which `claim` writes. Outside any
   * run, `invoke` writes it.
   */
  idempotencyKey: string = "";

  // Written by `validate`.

  /** The arguments that would run, unparsed: as sent, or as edited by an approver. */
  sent: unknown = undefined;
  /** `sent` as the schema parsed it. */
  input: unknown = undefined;
  /** The stored form of the input, redacted. */
  inputJson: string | null = null;

  // Written by several policies, by `addGuard`, `addSettler` and `cleanups.push`.

  /** Checks and writes of the transaction that begins the call, by policy. `begin` runs them. */
  guards: Map<string, Guard> | undefined = undefined;
  /** Writes of the transaction that ends the call, by policy. `journal` runs them. */
  settlers: Map<string, Settler> | undefined = undefined;
  /** Functions that `cleanUp` runs when the call has ended, whatever its outcome. */
  cleanups: (() => void)[] = [];

  // Written by `begin`.

  startedAtMs: number = 0;
  /**
   * The lease generation of the owner when the call began: after a lapse, another process may have taken over. Also written
   * by `check-ownership`, which finds that none has.
   */
  leaseGeneration: number = 0;
  /** The number of the call's row. Also written by `takeSeq`, and by `reconcile` of an interrupted call. */
  seq: number;
  /** The number that `takeSeq` took: it stays the same if the transaction runs again. */
  takenSeq: number | undefined = undefined;

  // Written by `timeout`.

  /** The try that is running, or ran last. */
  currentTry: Try | undefined = undefined;
  /** Interrupted tries that have not settled. */
  unsettledTries: number = 0;

  // Written by `trace`.

  /** The span of the call, with telemetry. */
  span: CallSpan | undefined = undefined;
  /** With telemetry: the keys of the calls inside this one, at any depth. */
  keysInside: Set<string> | undefined = undefined;

  // Written by calls that the tool makes inside this one.

  /** The scope of the latest try's calls, created by the first of them (`innerScopeOf`). */
  innerScope: Scope | undefined = undefined;
  /** The keys of all calls that the tries have made (`identify`). */
  innerKeys: Set<string> | undefined = undefined;
  /** An inner call could not be stored, so this call cannot end (`Scope.fail`). */
  failure: ToolwrightError | undefined = undefined;

  /**
   * Assigns the index synchronously: the order of the calls decides, whatever they await later. The key follows once the
   * store is open, since redacted arguments are hashed with the store's secret.
   */
  constructor(scope: Scope, spec: ToolSpec, args: unknown, mode: Call["mode"], options: CallOptions) {
    super();
    const written = writeArguments(spec.name, args);
    if (hidesSomething(spec)) scope.root.holdsSecrets = true;
    const { batch, site, history, callKey: indexByCaller } = options;
    // A model chose this id: an invalid character in it must not make the write fail.
    const toolCallId = options.toolCallId === undefined ? undefined : toStorableText(options.toolCallId);
    const isCheck = mode === "check";
    const assignIndex = (text: string): number | string =>
      indexByCaller ?? scope.indexes.assign(text, { isCheck, toolCallId, batch, site, history });
    this.host = scope.host;
    this.spec = spec;
    if (spec.revert !== undefined) scope.host.calledTools.set(spec.name, spec);
    this.scope = scope;
    const madeBy = scope.ofTry ?? tryAround();
    this.caller = madeBy?.call;
    this.madeBy = madeBy;
    this.args = args;
    this.argsText = written.text;
    this.callIndex = assignIndex(written.text);
    this.legacy =
      scope.keyVersion === KEY_VERSION
        ? undefined
        : identifyByVersion1(spec.name, args, written, assignIndex);
    this.toolCallId = toolCallId;
    this.signal = joinSignals(options.signal, scope.root.signal, madeBy?.signal);
    this.mode = mode;
    this.messageDecision = options.messageDecision;
    this.capabilities = options.capabilities;
    this.loopContext = options.loopContext;
    this.onYield = options.onYield;
    this.isReadByModel = options.readByModel ?? toolCallId !== undefined;
    this.modelName = options.modelName;
    this.hostLoop = options.hostLoop ?? this.caller?.hostLoop;
    this.isMadeByLoop = options.hostLoop !== undefined;
    this.retriesErrors = options.retriesErrors ?? false;
    this.seq = options.seq ?? 0;
  }
}

/** Takes the next row number of the task, once per call. */
export function takeSeq(call: Call): void {
  call.takenSeq ??= call.scope.nextSeq();
  call.seq = call.takenSeq;
}

/**
 * Before the call enters the pipeline again, because another process was faster. Releases what the policies hold in memory;
 * they acquire it again.
 */
export function resetCall(call: Call): void {
  cleanUp(call);
  Object.assign(call, new Progress());
  call.guards = undefined;
  call.settlers = undefined;
}

/** Adds a check or a write to the transaction that begins the call. */
export function addGuard(call: Call, policy: string, guard: Guard): void {
  (call.guards ??= new Map()).set(policy, guard);
}

/** Adds a write to the transaction that ends the call. */
export function addSettler(call: Call, policy: string, settler: Settler): void {
  (call.settlers ??= new Map()).set(policy, settler);
}

export function cleanUp(call: Call): void {
  const { cleanups } = call;
  call.cleanups = [];
  for (const cleanup of cleanups) cleanup();
}

/** The enclosing calls, innermost first. */
export function* callsAround(call: Call): Generator<Call, void> {
  for (let outer = call.caller; outer !== undefined; outer = outer.caller) yield outer;
}

/** The keys of a call and of its enclosing calls: it shares what these hold. */
export function keysAround(call: Call): ReadonlySet<string> {
  return new Set([call, ...callsAround(call)].map(({ key }) => key));
}

/**
 * Calls inside a call count in their own scope, so that parallel calls never take each other's indexes. Each try counts from
 * the start, so that its calls match the stored calls of earlier tries.
 */
export function innerScopeOf(ofTry: Try): Scope {
  const { call } = ofTry;
  const { scope } = call;
  ofTry.innerScope ??= new Scope(call.host, {
    identity: { ...scope.identity, parentKey: call.key },
    attempt: scope.attempt,
    limits: scope.limits,
    settings: scope.settings,
    parent: call,
    ofTry,
    triedBefore: new Set(call.innerKeys),
  });
  call.innerScope = ofTry.innerScope;
  return ofTry.innerScope;
}

export function inFlightName(key: string, attempt: number): string {
  return `${attempt} ${key}`;
}

/** Whether to track reads of the idempotency key: an unused key does harm only for unrepeatable effects. */
export function watchesKey(call: Call): boolean {
  return isUnrepeatable(call.spec);
}

/** What an event says about its call. */
interface WatchedCall extends Pick<Call, "host" | "scope" | "toolCallId" | "key"> {
  readonly spec: Pick<ToolSpec, "name">;
  readonly span?: CallSpan | undefined;
}

/** Notifies the listeners of the runtime. */
export function emit(call: WatchedCall, details: CallEventDetails): void {
  const { host, scope, spec, toolCallId, key, span } = call;
  if (!host.isWatched()) return;
  const { identity, attempt } = scope;
  const { nodeId, iteration } = identity;
  const at = host.clock.now();
  const about = { nodeId, iteration, attempt, at, toolName: spec.name, toolCallId, key };
  host.emit({ ...sourceOf(scope), ...about, ...details }, span);
}

function joinSignals(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  if (signals.every((signal) => signal === undefined)) return undefined;
  const given = signals.filter((signal, index) => signal !== undefined && signals.indexOf(signal) === index);
  return given.length <= 1 ? given[0] : AbortSignal.any(given as AbortSignal[]);
}

/** One call on its way through the pipeline: what is known of it at the start, and what the policies add. */
import { callKey, KEY_VERSION, type KeyVersion } from "../definition/call-key.ts";
import { isUnrepeatable, type ToolSpec } from "../definition/tool-spec.ts";
import type { Transaction } from "../store/store.ts";
import { tryAround } from "./ambient.ts";
import { Progress } from "./call-progress.ts";
import { type FormerIdentity, identifyAsFormer, textOfArguments, writeArguments } from "./call-text.ts";
import { sourceOf } from "./deliver-event.ts";
import type { CallEventDetails } from "./events.ts";
import type { Host } from "./host.ts";
import type { HostLoop } from "./host-loop.ts";
import type { Result } from "./outcome.ts";
import { maskForKey, unmask } from "./redact.ts";
import { hidesSomething } from "./storable.ts";
import { Scope } from "./scope.ts";
import type { Try } from "./try.ts";
import type { ToolwrightError } from "../errors.ts";
import { decode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import { toStorableText } from "../util/storable-text.ts";

export interface CallOptions {
  readonly toolCallId?: string | undefined;
  /** Takes the place of the count among equal calls. */
  readonly callKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Put into `ctx` for this call only. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** The same, from the loop that makes the call: a capability of the runtime with such a name counts more. */
  readonly loopContext?: Readonly<Record<string, unknown>> | undefined;
  /** Receives what a generator yields, before the result. */
  readonly onYield?: ((item: unknown) => void) | undefined;
  /** Identifies the model response that holds the call: its calls are different calls, even if they are equal. */
  readonly batch?: object | string | undefined;
  /** Identifies the call among all calls of the loop: the same site is the same call, also after it has ended. */
  readonly site?: string | undefined;
  /** At the same site after an error: a further try, where that is safe. Otherwise the recorded error is returned. */
  readonly retriesErrors?: boolean | undefined;
  /** The library whose loop makes the call, where it has control flow of its own. */
  readonly hostLoop?: HostLoop | undefined;
  /** A model reads the answer and can find out what became of an interrupted call. Default: the call has a `toolCallId`. */
  readonly readByModel?: boolean | undefined;
  /** The name that the model called, where it may differ from the tool's own. */
  readonly modelName?: string | undefined;
  /** What the messages of the loop say about this call: the turn of the chat, and its equal calls in it. */
  readonly history?:
    | { readonly turn: number; readonly earlier: number; readonly isResumed: boolean }
    | undefined;
  /** For calls outside any run, which have no log to count in. */
  readonly seq?: number | undefined;
  /** A decision that stands in the message history. Counts only where the runtime trusts it. */
  readonly messageDecision?: { readonly approved: boolean; readonly reason?: string | undefined } | undefined;
}

export type Guard = () => Transaction<void>;
export type Settler = (result: Result) => Transaction<void>;

/** A promise that is made when somebody asks for it: most calls end without anybody waiting for them. */
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
  readonly host: Host;
  readonly spec: ToolSpec;
  readonly scope: Scope;
  /** The call inside of which it is made, also where it counts in another scope. */
  readonly caller: Call | undefined;
  /** The try that makes it, also where it counts in another run. */
  readonly madeBy: Try | undefined;
  /** As they were sent. */
  readonly args: unknown;
  /** Equal for equal arguments; only in memory. */
  likeness: string;
  /** Its identity by version 1 of the derivation, until the store has said which one holds in the scope. */
  former: FormerIdentity | undefined;
  /** How many equal calls came before, or the caller's own key. */
  place: number | string;
  /** The tool and its arguments as text, redacted: what is hashed. */
  text: string = "";
  key: string = "";
  readonly toolCallId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** `ask`: stop before anything is run, and say whether it would have to wait. */
  readonly mode: "run" | "ask";
  readonly messageDecision: CallOptions["messageDecision"];
  readonly capabilities: CallOptions["capabilities"];
  readonly loopContext: CallOptions["loopContext"];
  readonly onYield: CallOptions["onYield"];
  readonly isReadByModel: boolean;
  readonly modelName: string | undefined;
  /** Of the nearest loop around it: also for calls that a tool makes inside. */
  readonly hostLoop: HostLoop | undefined;
  /** That loop itself makes the call. */
  readonly isMadeByLoop: boolean;
  readonly retriesErrors: boolean;
  /** What would be run, before it is parsed: the arguments, or those that a person put in their place. */
  sent: unknown = undefined;
  /** The same, parsed. */
  input: unknown = undefined;
  /** The stored form of the input, redacted. */
  inputJson: string | null = null;
  /** What the tool passes on: the key of the call, or the digest of its business key. */
  idempotencyKey: string = "";
  /** Checks and writes of the transaction that begins the call, and of the one that ends it, by policy. */
  guards: Map<string, Guard> | undefined = undefined;
  settlers: Map<string, Settler> | undefined = undefined;
  /** Run when the call has ended, whatever came of it. */
  cleanups: (() => void)[] = [];
  seq: number;
  /** The number that was taken for its row: kept when the transaction that writes the row is run again. */
  takenSeq: number | undefined = undefined;
  startedAtMs: number = 0;
  /** Where the calls of the latest try are counted. */
  innerScope: Scope | undefined = undefined;
  /** Keys of all calls that its tries have made. */
  innerKeys: Set<string> | undefined = undefined;
  /** The try that is running, or ran last. */
  currentTry: Try | undefined = undefined;
  /** Tries that were cut off and have not settled. */
  unsettledTries: number = 0;
  /** A call inside this one could not be recorded, so this one cannot end. */
  failure: ToolwrightError | undefined = undefined;
  /** The lease of its owner when it began: after a lapse, another process may have taken over. */
  leaseGeneration: number = 0;
  /** Resolves when the call has returned. */
  readonly ended = new Ended();

  /**
   * Gives the call its place, synchronously: the order in which calls are made decides, whatever is awaited later.
   * Its key follows when the store is there, since redacted arguments are hashed with the store's secret.
   */
  constructor(scope: Scope, spec: ToolSpec, args: unknown, mode: Call["mode"], options: CallOptions) {
    super();
    const written = writeArguments(spec.name, args);
    if (hidesSomething(spec)) scope.root.holdsSecrets = true;
    const { batch, site, history, callKey: placeByCaller } = options;
    // A name that a model gave: it must not be what the record fails at.
    const toolCallId = options.toolCallId === undefined ? undefined : toStorableText(options.toolCallId);
    const assignPlace = (text: string): number | string =>
      placeByCaller ?? scope.places.assign(text, { ask: mode === "ask", toolCallId, batch, site, history });
    this.host = scope.host;
    this.spec = spec;
    this.scope = scope;
    const madeBy = scope.ofTry ?? tryAround();
    this.caller = madeBy?.call;
    this.madeBy = madeBy;
    this.args = args;
    this.likeness = written.text;
    this.place = assignPlace(written.text);
    this.former =
      scope.keyVersion === KEY_VERSION ? undefined : identifyAsFormer(spec.name, args, written, assignPlace);
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

export function identify(call: Call): void {
  const { spec, scope } = call;
  const text = settleVersion(call);
  call.text = spec.redactInput.length === 0 ? text : textOf(call, call.args, scope.keyVersion);
  if (call.toolCallId !== undefined && typeof call.place === "number") {
    const place = scope.placeOfPending(call.toolCallId, call.text, call.place);
    if (place !== call.place) scope.places.move(call.likeness, call.place, place);
    call.place = place;
  }
  call.key = callKey(scope.text, call.place, call.text);
  call.idempotencyKey = call.key;
  if (scope.parent !== undefined || scope.isOwned) scope.assigned.add(call.key);
  if (scope.parent !== undefined) (scope.parent.innerKeys ??= new Set()).add(call.key);
}

/** Takes the identity that holds in the scope, now that the store has answered. The other one's place is not needed. */
function settleVersion(call: Call): string {
  const { scope, former, likeness, place } = call;
  call.former = undefined;
  if (former === undefined) return likeness;
  const isFormer = scope.keyVersion === 1;
  leavePlace(scope, isFormer ? { likeness, place } : former, "ended");
  if (!isFormer) return likeness;
  call.likeness = former.likeness;
  call.place = former.place;
  return former.text;
}

/** @param how `open`: the next equal call is this one; `cut`: also where the messages show this one before it */
export function leavePlaces(call: Call, how: "ended" | "open" | "cut"): void {
  leavePlace(call.scope, call, how);
  if (call.former !== undefined) leavePlace(call.scope, call.former, how);
}

function leavePlace(
  scope: Scope,
  { likeness, place }: Omit<FormerIdentity, "text">,
  how: "ended" | "open" | "cut",
): void {
  if (typeof place !== "number") return;
  if (how === "ended") scope.places.end(likeness, place);
  else scope.places.release(likeness, place, how === "cut");
}

/** The tool and its arguments as text, redacted: what the key of a call is made of. */
export function textOfCall(spec: ToolSpec, args: unknown, secret: string, version?: KeyVersion): string {
  return textOfArguments(spec.name, () => maskForKey(spec, args, secret, version), version);
}

function textOf(call: Call, args: unknown, version: KeyVersion | undefined): string {
  return textOfCall(call.spec, args, call.host.store.secret, version);
}

/** What the tool is run with: what a person put in the place of the arguments, or the arguments. */
export function executedHash(call: Call, version: KeyVersion): string {
  const { editedArgsJson, scope } = call;
  if (editedArgsJson === null && version === scope.keyVersion) return argumentsHash(call);
  const args = editedArgsJson === null ? call.args : unmask(decode(editedArgsJson), call.args);
  return sha256(textOf(call, args, version));
}

/** What a decision is bound to. */
export function argumentsHash(call: Call): string {
  return sha256(call.text);
}

/** Gives the call its number among the rows of its task, once. */
export function takeSeq(call: Call): void {
  call.takenSeq ??= call.scope.nextSeq();
  call.seq = call.takenSeq;
}

/**
 * Before the pipeline is entered once more, after another process was faster. What the policies hold in memory is given
 * back: they take it again on the way.
 */
export function resetCall(call: Call): void {
  cleanUp(call);
  Object.assign(call, new Progress());
  call.guards = undefined;
  call.settlers = undefined;
}

/** A check or a write of the transaction that begins the call. */
export function addGuard(call: Call, policy: string, guard: Guard): void {
  (call.guards ??= new Map()).set(policy, guard);
}

/** A write of the transaction that ends the call. */
export function addSettler(call: Call, policy: string, settler: Settler): void {
  (call.settlers ??= new Map()).set(policy, settler);
}

export function cleanUp(call: Call): void {
  const { cleanups } = call;
  call.cleanups = [];
  for (const cleanup of cleanups) cleanup();
}

/** The calls that this one is made inside of, the nearest first. */
export function* callsAround(call: Call): Generator<Call, void> {
  for (let outer = call.caller; outer !== undefined; outer = outer.caller) yield outer;
}

/** The keys of a call and of those around it: what these hold, they hold for it as well. */
export function keysAround(call: Call): ReadonlySet<string> {
  return new Set([call, ...callsAround(call)].map(({ key }) => key));
}

/**
 * Calls made inside a call count in a scope of their own, so that parallel ones never take each other's places. Each try
 * counts from the start: its calls are those of the tries before, which are recorded by then.
 */
export function innerScopeOf(attempt: Try): Scope {
  const { call } = attempt;
  const { scope } = call;
  attempt.innerScope ??= new Scope(call.host, {
    identity: { ...scope.identity, parentKey: call.key },
    attempt: scope.attempt,
    limits: scope.limits,
    settings: scope.settings,
    parent: call,
    ofTry: attempt,
    triedBefore: new Set(call.innerKeys),
  });
  call.innerScope = attempt.innerScope;
  return attempt.innerScope;
}

export function inFlightName(key: string, attempt: number): string {
  return `${attempt} ${key}`;
}

/** Whether the key is worth watching: only there a forgotten one does harm. */
export function watchesKey(call: Call): boolean {
  return isUnrepeatable(call.spec);
}

/** Notifies the listeners of the runtime. */
export function emit(call: Call, details: CallEventDetails): void {
  const { host, scope, spec, toolCallId, key } = call;
  if (!host.isWatched()) return;
  const { identity, attempt } = scope;
  const { nodeId, iteration } = identity;
  const at = host.clock.now();
  host.emit({
    ...sourceOf(scope),
    nodeId,
    iteration,
    attempt,
    at,
    toolName: spec.name,
    toolCallId,
    key,
    ...details,
  });
}

function joinSignals(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  if (signals.every((signal) => signal === undefined)) return undefined;
  const given = signals.filter((signal, index) => signal !== undefined && signals.indexOf(signal) === index);
  return given.length <= 1 ? given[0] : AbortSignal.any(given as AbortSignal[]);
}

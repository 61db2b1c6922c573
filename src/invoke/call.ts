/** One call on its way through the pipeline: what is known of it at the start, and what the policies add. */
import { callKey, callText } from "../definition/call-key.ts";
import { isUnrepeatable, type ToolSpec } from "../definition/tool-spec.ts";
import type { Transaction } from "../store/store.ts";
import { newProgress, type Progress } from "./call-progress.ts";
import type { CallNews } from "./events.ts";
import type { Host } from "./host.ts";
import type { Result } from "./outcome.ts";
import { maskInput, unmask } from "./redact.ts";
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
  /** Identifies the model response that holds the call: its calls are different calls, even if they are equal. */
  readonly batch?: object | undefined;
  /** A model reads the answer and can find out what became of an interrupted call. Default: the call has a `toolCallId`. */
  readonly readByModel?: boolean | undefined;
  /** The name that the model called, where it may differ from the tool's own. */
  readonly modelName?: string | undefined;
  /** For calls outside any run, which have no log to count in. */
  readonly seq?: number | undefined;
  /** A decision that stands in the message history. Counts only where the runtime trusts it. */
  readonly messageDecision?: { readonly approved: boolean; readonly reason?: string | undefined } | undefined;
}

export interface Call extends Progress {
  readonly host: Host;
  readonly spec: ToolSpec;
  readonly scope: Scope;
  /** As they were sent. */
  readonly args: unknown;
  /** Equal for equal arguments; only in memory. */
  readonly likeness: string;
  /** How many equal calls came before, or the caller's own key. */
  place: number | string;
  /** The tool and its arguments as text, redacted: what is hashed. */
  text: string;
  key: string;
  readonly toolCallId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** `ask`: stop before anything is run, and say whether it would have to wait. */
  readonly mode: "run" | "ask";
  readonly messageDecision: CallOptions["messageDecision"];
  readonly capabilities: CallOptions["capabilities"];
  readonly isReadByModel: boolean;
  readonly modelName: string | undefined;

  /** What would be run, before it is parsed: the arguments, or those that a person put in their place. */
  sent: unknown;
  /** The same, parsed. */
  input: unknown;
  /** The stored form of the input, redacted. */
  inputJson: string | null;
  /** What the tool passes on: the key of the call, or the digest of its business key. */
  idempotencyKey: string;
  /** Checks and writes of the transaction that begins the call, and of the one that ends it, by policy. */
  readonly guards: Map<string, () => Transaction<void>>;
  readonly settlers: Map<string, (result: Result) => Transaction<void>>;
  /** Run when the call has ended, whatever came of it. */
  cleanups: (() => void)[];
  seq: number;
  /** The number that was taken for its row: kept when the transaction that writes the row is run again. */
  takenSeq: number | undefined;
  startedAtMs: number;
  /** Where the calls of the latest try are counted. */
  innerScope: Scope | undefined;
  /** Keys of all calls that its tries have made. */
  readonly innerKeys: Set<string>;
  /** The try that is running, or ran last. */
  currentTry: Try | undefined;
  /** Tries that were cut off and have not settled. */
  unsettledTries: number;
  /** A call inside this one could not be recorded, so this one cannot end. */
  failure: ToolwrightError | undefined;
  /** The lease of its owner when it began: after a lapse, another process may have taken over. */
  leaseGeneration: number;
  /** Resolves when the call has returned. */
  readonly ended: Ended;
}

/** What `Promise.withResolvers` makes; its own name would ask users' projects for a newer `lib`. */
interface Ended {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/**
 * Gives the call its place, synchronously: the order in which calls are made decides, whatever is awaited later.
 * Its key follows when the store is there, since redacted arguments are hashed with the store's secret.
 */
export function createCall(
  scope: Scope,
  spec: ToolSpec,
  args: unknown,
  mode: Call["mode"],
  options: CallOptions,
): Call {
  const likeness = likenessOf(spec.name, () => args);
  const { batch } = options;
  // A name that a model gave: it must not be what the record fails at.
  const toolCallId = options.toolCallId === undefined ? undefined : toStorableText(options.toolCallId);
  return {
    host: scope.host,
    spec,
    scope,
    args,
    likeness,
    place: options.callKey ?? scope.places.assign(likeness, { ask: mode === "ask", toolCallId, batch }),
    text: "",
    key: "",
    toolCallId,
    signal: joinSignals(options.signal, scope.root.signal, scope.ofTry?.signal),
    mode,
    messageDecision: options.messageDecision,
    capabilities: options.capabilities,
    isReadByModel: options.readByModel ?? toolCallId !== undefined,
    modelName: options.modelName,
    ...newProgress(),
    sent: undefined,
    input: undefined,
    inputJson: null,
    idempotencyKey: "",
    guards: new Map(),
    settlers: new Map(),
    cleanups: [],
    seq: options.seq ?? 0,
    takenSeq: undefined,
    startedAtMs: 0,
    innerScope: undefined,
    innerKeys: new Set(),
    currentTry: undefined,
    unsettledTries: 0,
    failure: undefined,
    leaseGeneration: 0,
    ended: Promise.withResolvers(),
  };
}

export function identify(call: Call): void {
  const { spec, scope } = call;
  call.text =
    spec.redactInput.length === 0 ? call.likeness : textOfCall(spec, call.args, call.host.store.secret);
  if (call.toolCallId !== undefined && typeof call.place === "number") {
    const place = scope.placeOfPending(call.toolCallId, call.text, call.place);
    if (place !== call.place) scope.places.move(call.likeness, call.place, place);
    call.place = place;
  }
  call.key = callKey(scope.text, call.place, call.text);
  call.idempotencyKey = call.key;
  if (scope.parent !== undefined || scope.isOwned) scope.assigned.add(call.key);
  scope.parent?.innerKeys.add(call.key);
}

/** The tool and its arguments as text, redacted: what the key of a call is made of. */
export function textOfCall(spec: ToolSpec, args: unknown, secret: string): string {
  return likenessOf(spec.name, () => maskInput(spec, args, secret));
}

/** What the tool is run with: what a person put in the place of the arguments, or the arguments. */
export function executedHash(call: Call): string {
  const { spec, editedArgsJson } = call;
  if (editedArgsJson === null) return argumentsHash(call);
  const edited = unmask(decode(editedArgsJson), call.args);
  return sha256(textOfCall(spec, edited, call.host.store.secret));
}

/** What a decision is bound to. */
export function argumentsHash(call: Call): string {
  return sha256(call.text);
}

/** Arguments that cannot be read or encoded are refused later, by the validation; until then they count as equal. */
function likenessOf(toolName: string, args: () => unknown): string {
  try {
    return callText(toolName, args());
  } catch {
    // Whatever it is: a getter of the caller's may throw anything.
    return callText(toolName, "unencodable");
  }
}

/** Gives the call its number among the rows of its task, once. */
export function takeSeq(call: Call): void {
  call.takenSeq ??= call.scope.nextSeq();
  call.seq = call.takenSeq;
}

/** Before the pipeline is entered once more, after another process was faster. */
export function resetCall(call: Call): void {
  Object.assign(call, newProgress());
  call.guards.clear();
  call.settlers.clear();
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

/** Says what happens to a call, to those who listen. */
export function tell(call: Call, news: CallNews): void {
  if (!call.host.isWatched()) return;
  const { runId, nodeId, iteration } = call.scope.identity;
  call.host.emit({
    ...news,
    runId,
    nodeId,
    iteration,
    attempt: call.scope.attempt,
    toolName: call.spec.name,
    toolCallId: call.toolCallId,
    key: call.key,
    at: call.host.clock.now(),
  });
}

function joinSignals(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = [...new Set(signals)].filter((signal) => signal !== undefined);
  return given.length <= 1 ? given[0] : AbortSignal.any(given);
}

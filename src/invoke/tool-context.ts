/** Creates the context that a tool receives: for a try of `execute`, and for the author's other functions. */
import {
  type BaseToolContext,
  getToolContext,
  type PartialToolContext,
  type ToolContext,
  type ToolLog,
} from "../definition/context.ts";
import type { ToolSettings } from "../definition/tool-settings.ts";
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "./error-record.ts";
import { runInAmbient } from "./ambient.ts";
import { type Call, watchesKey } from "./call.ts";
import { noteKeyRead } from "../store/tables/write-calls.ts";
import { type CallCapabilities, commitAtOnce } from "./host.ts";
import { CallLog, reportProgress } from "./tool-reports.ts";
import { Try } from "./try.ts";

/**
 * Runs a function of the tool's author with its own context. Its capabilities are created before it and disposed after it.
 * Tools that it calls are inner calls of this call.
 * @param ofTry the try that `work` belongs to; by default a new one
 */
export function withToolContext<T>(
  call: Call,
  work: (ctx: ToolContext<object>) => Promise<T>,
  ofTry?: Try,
): Promise<T> {
  return ofTry === undefined ? withOwnTry(call, work) : inContext(call, ofTry, work);
}

async function withOwnTry<T>(call: Call, work: (ctx: ToolContext<object>) => Promise<T>): Promise<T> {
  const own = new Try(call);
  try {
    return await inContext(call, own, work);
  } finally {
    own.end();
  }
}

function inContext<T>(call: Call, ofTry: Try, work: (ctx: ToolContext<object>) => Promise<T>): Promise<T> {
  if (call.host.capabilitiesFor !== undefined) return withCapabilities(call, ofTry, work);
  const { loopContext, capabilities } = call;
  const isPlain = loopContext === undefined && capabilities === undefined;
  const ctx = createToolContext(call, ofTry, isPlain ? undefined : { ...loopContext, ...capabilities });
  return runInAmbient({ scope: call.scope, ofTry }, ctx, () => work(ctx));
}

async function withCapabilities<T>(
  call: Call,
  ofTry: Try,
  work: (ctx: ToolContext<object>) => Promise<T>,
): Promise<T> {
  const made = await capabilitiesFor(call);
  try {
    const ctx = createToolContext(call, ofTry, {
      ...call.loopContext,
      ...made?.values,
      ...call.capabilities,
    });
    return await runInAmbient({ scope: call.scope, ofTry }, ctx, () => work(ctx));
  } finally {
    if (made !== undefined) await dispose(call, made);
  }
}

async function capabilitiesFor(call: Call): Promise<CallCapabilities | undefined> {
  const { host, spec, scope } = call;
  try {
    return await host.capabilitiesFor?.({ runId: scope.identity.runId, toolName: spec.name });
  } catch (cause) {
    throw new ToolwrightError(
      "TOOL_EXECUTION_FAILED",
      `The capabilities for "${spec.name}" could not be created: ${messageOf(cause)}`,
      { details: { tool: spec.name }, effect: "none", cause },
    );
  }
}

/** A connection that cannot be closed does not change the outcome of the call, so this only warns. */
async function dispose(call: Call, made: CallCapabilities): Promise<void> {
  try {
    await made.dispose();
  } catch (error) {
    call.host.warnOnce(
      "dispose",
      `capabilities could not be disposed after "${call.spec.name}": ${messageOf(error)}`,
    );
  }
}

function createToolContext(
  call: Call,
  ofTry: Try,
  capabilities: Readonly<Record<string, unknown>> | undefined,
): ToolContext<object> {
  const context = new CallContext(call, ofTry);
  return capabilities === undefined ? context : addCapabilities(context, capabilities, call.scope.isDetached);
}

/**
 * All fields are own properties, so that `{ ...ctx }` copies them. A class and not a literal: V8 would treat contexts from a
 * literal as long-lived, and would retain everything that they refer to.
 */
class CallContext implements BaseToolContext {
  declare readonly idempotencyKey: string;
  readonly toolName: string;
  readonly sideEffect: boolean;
  readonly idempotent: boolean;
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly seq: number;
  readonly rootDir: string;
  readonly allowNetwork: boolean;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
  readonly isolation: ToolSettings["isolation"];
  readonly protectedPaths: readonly string[];
  readonly toolCallId: string | undefined;
  readonly log: ToolLog;
  readonly progress: BaseToolContext["progress"];
  readonly reportCost: BaseToolContext["reportCost"];
  readonly durabilitySnapshot: BaseToolContext["durabilitySnapshot"];
  declare readonly signal: AbortSignal;
  readonly #ofTry: Try;
  readonly #outer: PartialToolContext | undefined;
  readonly #key: string;
  #joined: AbortSignal | undefined;

  constructor(call: Call, ofTry: Try) {
    const { spec, scope } = call;
    const { identity } = scope;
    const outer = getToolContext();
    const settings = settingsOf(call, outer);
    this.toolName = spec.name;
    this.sideEffect = spec.sideEffect;
    this.idempotent = spec.idempotent;
    this.runId = identity.runId;
    this.nodeId = identity.nodeId;
    this.iteration = identity.iteration;
    this.attempt = scope.attempt;
    this.seq = call.seq;
    this.rootDir = settings.rootDir;
    this.allowNetwork = settings.allowNetwork;
    this.maxOutputBytes = settings.maxOutputBytes;
    this.timeoutMs = settings.timeoutMs;
    this.isolation = settings.isolation;
    this.protectedPaths = settings.protectedPaths;
    this.toolCallId = call.toolCallId;
    this.log = new CallLog(call);
    this.progress = (...report: readonly unknown[]) => reportProgress(call, report);
    this.reportCost = (usd) => {
      if (!Number.isFinite(usd) || usd <= 0) return;
      call.costUsd += usd;
      call.spending?.note();
    };
    this.durabilitySnapshot =
      call.host.snapshotFor?.(call, settings) ?? outer?.durabilitySnapshot ?? noSnapshot;
    this.#ofTry = ofTry;
    this.#outer = outer;
    this.#key = call.idempotencyKey;
    Object.defineProperty(this, "signal", CallContext.#SIGNAL);
    // Only if it matters whether the tool reads its key: an accessor costs more than a value.
    if (watchesKey(call)) Object.defineProperty(this, "idempotencyKey", CallContext.#KEY);
    else (this as { idempotencyKey: string }).idempotencyKey = call.idempotencyKey;
  }

  // Own accessors that share one function, which is much cheaper than one function per context.
  static readonly #SIGNAL = accessor((context) => CallContext.#of(context).#signal());
  static readonly #KEY = accessor((context) => CallContext.#of(context).#readKey());

  /** Also finds the context behind an object that inherits from it. */
  static #of(context: object): CallContext {
    let owner = context;
    while (!(#ofTry in owner)) owner = Object.getPrototypeOf(owner) as object;
    return owner;
  }

  #readKey(): string {
    const { call } = this.#ofTry;
    if (!call.keyRead) {
      call.keyRead = true;
      recordKeyRead(call);
    }
    return this.#key;
  }

  #signal(): AbortSignal {
    const { signal, call } = this.#ofTry;
    const outer = this.#outer?.signal;
    // Outside any run, only the surrounding context can abort the call.
    if (!call.scope.isDetached || outer === undefined) return signal;
    return (this.#joined ??= AbortSignal.any([signal, outer]));
  }
}

/** In a run, capabilities cannot replace the key, the run or other base fields; outside, a test may replace anything. */
function addCapabilities(
  context: BaseToolContext,
  capabilities: Readonly<Record<string, unknown>>,
  mayReplace: boolean,
): BaseToolContext {
  for (const name of Object.keys(capabilities)) {
    if (name in context && !mayReplace) continue;
    const value = capabilities[name];
    Object.defineProperty(context, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return context;
}

function accessor(read: (context: object) => unknown): PropertyDescriptor {
  return {
    enumerable: true,
    configurable: true,
    get(this: object) {
      return read(this);
    },
  };
}

/** Used if the runtime takes no snapshots. */
const noSnapshot = (): Promise<undefined> => Promise.resolve(undefined);

export function takesSnapshots(ctx: Pick<BaseToolContext, "durabilitySnapshot">): boolean {
  return ctx.durabilitySnapshot !== noSnapshot;
}

/** The nearest setting wins: the surrounding context, the run, the runtime, the default. */
function settingsOf(call: Call, outer: PartialToolContext | undefined): ToolSettings {
  const { settings: own } = call.scope.root;
  const base = call.host.settings;
  return {
    rootDir: outer?.rootDir ?? own.rootDir ?? base.rootDir,
    allowNetwork: outer?.allowNetwork ?? own.allowNetwork ?? base.allowNetwork,
    maxOutputBytes: outer?.maxOutputBytes ?? own.maxOutputBytes ?? base.maxOutputBytes,
    timeoutMs: outer?.timeoutMs ?? own.timeoutMs ?? base.timeoutMs,
    isolation: outer?.isolation ?? own.isolation ?? base.isolation,
    protectedPaths: outer?.protectedPaths ?? own.protectedPaths ?? base.protectedPaths,
  };
}

/**
 * Stores that a running call has read its idempotency key: if the process dies, the next one knows that the service can
 * deduplicate a repeated call. This costs a write, so it is skipped if the log already proves it.
 */
function recordKeyRead(call: Call): void {
  const { host, spec, scope } = call;
  const isProven = spec.takesKey || host.keyReaders.has(spec.name);
  if (isProven || spec.options.acceptsIdempotencyKey === false) return;
  if (!call.executed || !call.begun || call.isDeferred || scope.isDetached) return;
  const at = { scopeId: scope.id, key: call.key, attempt: scope.attempt, ownerId: host.ownerId };
  commitAtOnce(host, () => noteKeyRead(at)).then(
    () => host.keyReaders.add(spec.name),
    // The outcome stores it too, and the call itself reports a failing store.
    () => undefined,
  );
}

/**
 * What a tool is handed when it runs, and the ambient context that finds it again further down the call stack.
 * Only data and capabilities: how a call is made is none of this file's business.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { digest } from "../util/hash.ts";
import {
  aBoolean,
  anInteger,
  anIsolation,
  anObject,
  aSignal,
  aText,
  type Check,
  describe,
  distance,
  listOf,
  outputBytes,
  Problem,
  processTimeout,
  refuseUnknown,
} from "./option-checks.ts";
import { asOptionError } from "./option-table.ts";
import {
  assertSameVersion,
  isSameVersion,
  OWN_COPY,
  type PackageCopy,
  sharedByCopies,
} from "./package-copy.ts";

/**
 * Capabilities that a project's runtime gives to every tool. Empty here; a project adds its own by declaration
 * merging, or a tool names them itself: `execute(args, ctx: ToolContext<{ conn: Db }>)`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface ToolCapabilities {}

/** A value that several calls use: Toolwright never disposes it. */
export class SharedCapability<T = unknown> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/**
 * Marks a value that the `capabilities` function returns as one that calls share, so that no call closes it.
 * @example
 * createRuntime({ capabilities: () => ({ db: sharedCapability(pool), conn: openConnection() }) }); // only conn is closed
 */
export function sharedCapability<T>(value: T): SharedCapability<T> {
  return new SharedCapability(value);
}

export interface ToolLog {
  debug(message: string, data?: Readonly<Record<string, unknown>>): void;
  info(message: string, data?: Readonly<Record<string, unknown>>): void;
  warn(message: string, data?: Readonly<Record<string, unknown>>): void;
  error(message: string, data?: Readonly<Record<string, unknown>>): void;
}

/**
 * Reports progress to listeners, the command line and MCP clients: in words, with any data, or as a number of a total.
 * @example
 * ctx.progress("reading page 3", { progress: 3, total: 10 });
 * ctx.progress(3, 10, "reading page 3");
 */
export interface ToolProgress {
  (message: string, data?: Readonly<Record<string, unknown>>): void;
  (progress: number, total?: number, message?: string): void;
}

/** The limits and places that tools work within. */
export interface ToolSettings {
  /** Sandbox root. Default: the working directory. */
  readonly rootDir: string;
  readonly allowNetwork: boolean;
  readonly maxOutputBytes: number;
  /** Process timeout of `bash` and `grep`. */
  readonly timeoutMs: number;
  readonly isolation: "require" | "auto" | "off";
  /** Files that tools may neither change nor show to commands: the store, above all. */
  readonly protectedPaths: readonly string[];
}

export interface BaseToolContext extends ToolSettings {
  /**
   * The same for this call in every retry and resume. Pass it to services that take one. Outside any run it is a fresh
   * text for each call, unless the context around the call has a key or a run id.
   */
  readonly idempotencyKey: string;
  readonly toolName: string;
  readonly sideEffect: boolean;
  readonly idempotent: boolean;
  /** `""` outside any run. */
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  /** Equals `seq` in the log. */
  readonly seq: number;
  /** The model's id of this call, where a model made it. */
  readonly toolCallId: string | undefined;
  /** Fires when the call is to stop: timeout, abort, lost ownership. */
  readonly signal: AbortSignal;
  readonly log: ToolLog;
  readonly progress: ToolProgress;
  reportCost(usd: number): void;
  durabilitySnapshot(name: string, toolUseId: string): Promise<unknown>;
}

/** The names of its fields, which no capability can take. */
export const BASE_CONTEXT_FIELDS: Readonly<Record<keyof BaseToolContext, true>> = {
  idempotencyKey: true,
  toolName: true,
  sideEffect: true,
  idempotent: true,
  runId: true,
  nodeId: true,
  iteration: true,
  attempt: true,
  seq: true,
  toolCallId: true,
  signal: true,
  log: true,
  progress: true,
  reportCost: true,
  durabilitySnapshot: true,
  rootDir: true,
  allowNetwork: true,
  maxOutputBytes: true,
  timeoutMs: true,
  isolation: true,
  protectedPaths: true,
};

export type ToolContext<Capabilities = ToolCapabilities> = BaseToolContext & Capabilities;

/** The part of a context that can be given from outside; what is left out has its default. */
export type PartialToolContext = Partial<BaseToolContext>;

export const DEFAULT_SETTINGS = {
  allowNetwork: false,
  maxOutputBytes: 200_000,
  timeoutMs: 60_000,
  isolation: "auto",
  protectedPaths: [],
} as const satisfies Omit<ToolSettings, "rootDir">;

/** One storage for both, since every call enters it: what tools see, and what the pipeline keeps for itself. */
interface Frame {
  readonly context: PartialToolContext | undefined;
  readonly ambient: unknown;
  /** The copy of the package that `ambient` belongs to. */
  readonly copy: PackageCopy;
}

// All copies, of whatever version, have one storage: each of them sees that it is inside a run.
const storage = sharedByCopies("frames.1", () => new AsyncLocalStorage<Frame>());

/** Those fields that a caller may set; what else is there is a capability, and passes as it is. */
const CONTEXT_CHECKS: Readonly<Record<keyof ToolSettings, Check>> &
  Readonly<Partial<Record<keyof BaseToolContext, Check>>> = {
  rootDir: aText,
  allowNetwork: aBoolean,
  maxOutputBytes: outputBytes,
  timeoutMs: processTimeout,
  isolation: anIsolation,
  protectedPaths: listOf(aText),
  sideEffect: aBoolean,
  idempotent: aBoolean,
  runId: aText,
  nodeId: aText,
  toolName: aText,
  iteration: anInteger(0),
  attempt: anInteger(0),
  seq: anInteger(0),
  signal: aSignal,
};

/** Misspelt, such a field would count as left out; other names may be capabilities. */
const LONG_NAMES = Object.keys(CONTEXT_CHECKS).filter((name) => name.length >= 7);

function checkContext(context: unknown): void {
  asOptionError("runWithToolContext", () => {
    if (typeof context !== "object" || context === null)
      throw new Problem("", `the context must be an object such as { rootDir }, not ${describe(context)}.`);
    for (const [name, value] of Object.entries(context)) {
      if (name in CONTEXT_CHECKS) {
        if (value !== undefined) CONTEXT_CHECKS[name as keyof ToolSettings](value, name);
      } else if (!(name in BASE_CONTEXT_FIELDS)) {
        const near = LONG_NAMES.find((one) => distance(one.toLowerCase(), name.toLowerCase()) <= 2);
        if (near !== undefined) refuseUnknown({ [name]: value }, [near]);
      }
    }
  });
}

/** Runs `work` with a context that the tools called inside it see. @throws TOOL_OPTION_INVALID */
export function runWithToolContext<T>(context: PartialToolContext, work: () => T): T {
  checkContext(context);
  const outer = storage.getStore();
  return storage.run({ context, ambient: outer?.ambient, copy: outer?.copy ?? OWN_COPY }, work);
}

/**
 * The context of the tool that is running now, or `undefined` outside any.
 * @throws TOOL_PACKAGE_CONFLICT in a run of another version of the package, whose calls this one cannot make
 */
export function getToolContext(): PartialToolContext | undefined {
  assertNoForeignRun();
  return storage.getStore()?.context;
}

/** @throws TOOL_PACKAGE_CONFLICT */
export function assertNoForeignRun(): void {
  const frame = storage.getStore();
  if (frame?.ambient !== undefined) assertSameVersion(frame.copy, "The run around this call");
}

/** For the pipeline: runs `work` in a frame of its own. The context is inherited where none is given. */
export function runInFrame<T>(ambient: unknown, context: PartialToolContext | undefined, work: () => T): T {
  return storage.run({ context: context ?? storage.getStore()?.context, ambient, copy: OWN_COPY }, work);
}

/** Runs `work` as if no tool and no run were around it. */
export function runOutsideFrames<T>(work: () => T): T {
  return storage.exit(work);
}

/** `undefined` also inside a run of another version, which this one cannot read. */
export function getAmbient(): unknown {
  const frame = storage.getStore();
  return isSameVersion(frame?.copy) ? frame?.ambient : undefined;
}

/** The other copy of the same version whose run this is, if it is not this copy's own. */
export function otherCopyAround(): PackageCopy | undefined {
  const frame = storage.getStore();
  const isOther = frame?.ambient !== undefined && frame.copy !== OWN_COPY && isSameVersion(frame.copy);
  return isOther ? frame.copy : undefined;
}

/**
 * The idempotency key of a context, by default of the one that is running now. A context without a key of its own, such as
 * `{ runId, nodeId, iteration }`, has one that is built from these ids: the same in every process. `null` without a run id.
 */
export function getToolIdempotencyKey(
  context: PartialToolContext | undefined = getToolContext(),
): string | null {
  if (context === undefined) return null;
  const { idempotencyKey = "", runId = "", nodeId = "main", iteration = 0 } = context;
  asOptionError("getToolIdempotencyKey", () => {
    for (const [name, text] of Object.entries({ idempotencyKey, runId, nodeId })) aText(text, name);
    anInteger(0)(iteration, "iteration");
  });
  if (idempotencyKey !== "") return idempotencyKey;
  return runId === "" ? null : digest(["task", runId, nodeId, iteration]);
}

const counters = sharedByCopies("call numbers.1", () => new WeakMap<object, number>());

/** The next number of a task-local count of calls, for each context object: `ctx.seq` + 1, + 2, …; from 1 without one. */
export function nextToolSeq(context: object): number {
  asOptionError("nextToolSeq", () => anObject(context, "the context"));
  const { seq = 0 } = context as { readonly seq?: unknown };
  asOptionError("nextToolSeq", () => anInteger(0)(seq, "seq"));
  const start = seq as number;
  const next = Math.max(counters.get(context) ?? start, start) + 1;
  counters.set(context, next);
  return next;
}

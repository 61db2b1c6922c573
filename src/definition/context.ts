/**
 * The context that a tool receives, and the ambient storage that makes it available further down the call stack. Data and
 * capabilities only; this file does not know how a call runs.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { digest } from "../util/hash.ts";
import {
  aBoolean,
  anInteger,
  anObject,
  aSignal,
  aText,
  type Check,
  describe,
  Problem,
  refuseUnknown,
} from "./option-checks.ts";
import { distance } from "./nearest-name.ts";
import { asOptionError } from "./option-table.ts";
import {
  assertSameVersion,
  isSameVersion,
  OWN_COPY,
  type PackageCopy,
  sharedByCopies,
} from "./package-copy.ts";
import { SETTING_CHECKS, type ToolSettings } from "./tool-settings.ts";

/**
 * Capabilities that the runtime of a project passes to every tool. A project adds its own by declaration merging, or a
 * tool names them: `execute(args, ctx: ToolContext<{ conn: Db }>)`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface ToolCapabilities {}

/** A value that several calls share: Toolwright never disposes it. */
export class SharedCapability<T = unknown> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/**
 * Marks a value that the `capabilities` function returns as shared between calls, so that no call closes it.
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
 * Reports progress to listeners, the command line and MCP clients: a message with any data, or a number and a total.
 * @example
 * ctx.progress("reading page 3", { progress: 3, total: 10 });
 * ctx.progress(3, 10, "reading page 3");
 */
export interface ToolProgress {
  (message: string, data?: Readonly<Record<string, unknown>>): void;
  (progress: number, total?: number, message?: string): void;
}

export interface BaseToolContext extends ToolSettings {
  /**
   * The same for this call in every retry and resume. Pass it to services that accept one. Outside any run each call has a
   * new key, unless the surrounding context has a key or a run id.
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
  /** The model's id of this call, if a model made it. */
  readonly toolCallId: string | undefined;
  /** Fires when the call must stop: timeout, abort, lost ownership. */
  readonly signal: AbortSignal;
  readonly log: ToolLog;
  readonly progress: ToolProgress;
  reportCost(usd: number): void;
  durabilitySnapshot(name: string, toolUseId: string): Promise<unknown>;
}

/** Its field names, which are reserved: no capability can have one. */
export const BASE_CONTEXT_FIELDS: Readonly<Record<keyof BaseToolContext, unknown>> = {
  ...SETTING_CHECKS,
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
};

export type ToolContext<Capabilities = ToolCapabilities> = BaseToolContext & Capabilities;

/** The part of a context that a caller can set. Omitted fields have their defaults. */
export type PartialToolContext = Partial<BaseToolContext>;

/** One storage for the context of tools and the ambient state of the pipeline, since every call enters it. */
interface Frame {
  readonly context: PartialToolContext | undefined;
  readonly ambient: unknown;
  /** The copy of the package that `ambient` belongs to. */
  readonly copy: PackageCopy;
}

// All copies of the package share one storage, whatever their version: each must see that it is inside a run.
const storage = sharedByCopies("frames.1", () => new AsyncLocalStorage<Frame>());

/** The fields that a caller may set. Any other field is a capability and is not checked. */
const CONTEXT_CHECKS: Readonly<Record<keyof ToolSettings, Check>> &
  Readonly<Partial<Record<keyof BaseToolContext, Check>>> = {
  ...SETTING_CHECKS,
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

/** A misspelled field would count as omitted, so near misses of these names are refused. */
const LONG_NAMES = Object.keys(CONTEXT_CHECKS).filter((name) => name.length >= 7);

function checkContext(context: unknown): void {
  asOptionError("runWithToolContext", () => {
    if (typeof context !== "object" || context === null)
      throw new Problem("", `the context must be an object such as { rootDir }, not ${describe(context)}.`);
    for (const [name, value] of Object.entries(context)) {
      if (name in CONTEXT_CHECKS) {
        if (value !== undefined) CONTEXT_CHECKS[name as keyof ToolSettings](value, name);
      } else if (!(name in BASE_CONTEXT_FIELDS)) {
        const near =
          LONG_NAMES.find((one) => distance(one.toLowerCase(), name.toLowerCase()) <= 2) ??
          Object.keys(CONTEXT_CHECKS).find((one) => one.toLowerCase() === name.toLowerCase());
        if (near !== undefined) refuseUnknown({ [name]: value }, [near]);
      }
    }
  });
}

/** Runs `work` with a context for the tools that are called inside it. @throws TOOL_OPTION_INVALID */
export function runWithToolContext<T>(context: PartialToolContext, work: () => T): T {
  checkContext(context);
  const outer = storage.getStore();
  return storage.run({ context, ambient: outer?.ambient, copy: outer?.copy ?? OWN_COPY }, work);
}

/**
 * The context of the running tool, or `undefined` outside any tool.
 * @throws TOOL_PACKAGE_CONFLICT inside a run of another version of the package, which this one cannot join
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

/** For the pipeline: runs `work` in a new frame. Without a context, the frame inherits the current one. */
export function runInFrame<T>(ambient: unknown, context: PartialToolContext | undefined, work: () => T): T {
  return storage.run({ context: context ?? storage.getStore()?.context, ambient, copy: OWN_COPY }, work);
}

/** Runs `work` outside any tool and run. */
export function runOutsideFrames<T>(work: () => T): T {
  return storage.exit(work);
}

/** Also `undefined` inside a run of another version, which this one cannot read. */
export function getAmbient(): unknown {
  const frame = storage.getStore();
  return isSameVersion(frame?.copy) ? frame?.ambient : undefined;
}

/** The other copy of the same version that owns the surrounding run; `undefined` if this copy owns it. */
export function otherCopyAround(): PackageCopy | undefined {
  const frame = storage.getStore();
  const isOther = frame?.ambient !== undefined && frame.copy !== OWN_COPY && isSameVersion(frame.copy);
  return isOther ? frame.copy : undefined;
}

/**
 * The idempotency key of a context, by default the current one. For a context without a key, such as
 * `{ runId, nodeId, iteration }`, the key is derived from these ids: the same in every process. `null` without a run id.
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

/** The next call number for a context object: `ctx.seq` + 1, + 2, …; from 1 if the context has no `seq`. */
export function nextToolSeq(context: object): number {
  asOptionError("nextToolSeq", () => anObject(context, "the context"));
  const { seq = 0 } = context as { readonly seq?: unknown };
  asOptionError("nextToolSeq", () => anInteger(0)(seq, "seq"));
  const start = seq as number;
  const next = Math.max(counters.get(context) ?? start, start) + 1;
  counters.set(context, next);
  return next;
}

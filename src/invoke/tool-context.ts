/** Builds what a tool is handed for one try. */
import {
  type BaseToolContext,
  getToolContext,
  type PartialToolContext,
  type ToolContext,
  type ToolLog,
  type ToolSettings,
} from "../definition/context.ts";
import { type Call, tell, watchesKey } from "./call.ts";

export function createToolContext(
  call: Call,
  capabilities: Readonly<Record<string, unknown>>,
): ToolContext<object> {
  const { spec, scope } = call;
  const { runId, nodeId, iteration } = scope.identity;
  const outer = getToolContext();
  const settings = settingsOf(call, outer);
  const context: Mutable<BaseToolContext> = {
    idempotencyKey: call.idempotencyKey === "" ? (outer?.idempotencyKey ?? null) : call.idempotencyKey,
    toolName: spec.name,
    sideEffect: spec.sideEffect,
    idempotent: spec.idempotent,
    runId,
    nodeId,
    iteration,
    attempt: scope.attempt,
    seq: call.seq,
    rootDir: settings.rootDir,
    allowNetwork: settings.allowNetwork,
    maxOutputBytes: settings.maxOutputBytes,
    timeoutMs: settings.timeoutMs,
    isolation: settings.isolation,
    protectedPaths: settings.protectedPaths,
    toolCallId: call.toolCallId,
    get signal() {
      return call.currentTry.signal;
    },
    log: new CallLog(call),
    progress: (message, data) => tell(call, { type: "call-progress", message, data }),
    reportCost: (usd) => {
      if (Number.isFinite(usd) && usd > 0) call.costUsd += usd;
    },
    durabilitySnapshot: noSnapshot,
  };
  if (watchesKey(call)) watchKey(call, context);
  return Object.assign(context, capabilities);
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Notices whether the tool reads its key. Only where it matters: an accessor costs more than a value. */
function watchKey(call: Call, context: BaseToolContext): void {
  const { idempotencyKey } = context;
  Object.defineProperty(context, "idempotencyKey", {
    enumerable: true,
    get: () => {
      call.keyRead = true;
      return idempotencyKey;
    },
  });
}

/** A hook for the sandbox's snapshots; without one there is nothing to snapshot. */
const noSnapshot = (): Promise<undefined> => Promise.resolve(undefined);

/** The nearest setting counts: a surrounding context, the run, the runtime, the default. */
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

class CallLog implements ToolLog {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  debug(message: string, data?: Readonly<Record<string, unknown>>): void {
    this.#write("debug", message, data);
  }

  info(message: string, data?: Readonly<Record<string, unknown>>): void {
    this.#write("info", message, data);
  }

  warn(message: string, data?: Readonly<Record<string, unknown>>): void {
    this.#write("warn", message, data);
  }

  error(message: string, data?: Readonly<Record<string, unknown>>): void {
    this.#write("error", message, data);
  }

  #write(level: "debug" | "info" | "warn" | "error", message: string, data: unknown): void {
    tell(this.#call, { type: "call-logged", level, message, data });
  }
}

/** Builds what a tool is handed for one try. */
import {
  DEFAULT_SETTINGS,
  getToolContext,
  type PartialToolContext,
  type ToolContext,
  type ToolLog,
  type ToolSettings,
} from "../definition/context.ts";
import { type Call, tell } from "./call.ts";

export function createToolContext(
  call: Call,
  capabilities: Readonly<Record<string, unknown>>,
): ToolContext<object> {
  const { spec, scope } = call;
  const { runId, nodeId, iteration } = scope.identity;
  const outer = getToolContext();
  const { rootDir, allowNetwork, maxOutputBytes, timeoutMs, isolation } = settingsOf(call, outer);
  return {
    ...capabilities,
    get idempotencyKey() {
      call.keyRead = true;
      return call.idempotencyKey === "" ? (outer?.idempotencyKey ?? null) : call.idempotencyKey;
    },
    toolName: spec.name,
    sideEffect: spec.sideEffect,
    idempotent: spec.idempotent,
    runId,
    nodeId,
    iteration,
    attempt: scope.attempt,
    seq: call.seq,
    rootDir,
    allowNetwork,
    maxOutputBytes,
    timeoutMs,
    isolation,
    toolCallId: call.toolCallId,
    get signal() {
      return call.currentTry.signal;
    },
    get log() {
      return createLog(call);
    },
    progress: (message, data) => tell(call, { type: "call-progress", message, data }),
    reportCost: (usd) => {
      if (Number.isFinite(usd) && usd > 0) call.costUsd += usd;
    },
    // A hook for the sandbox's snapshots; without one there is nothing to snapshot.
    durabilitySnapshot: async () => undefined,
  };
}

/** The nearest setting counts: a surrounding context, the run, the runtime, the default. */
function settingsOf(call: Call, outer: PartialToolContext | undefined): ToolSettings {
  const { settings: own } = call.scope.root;
  const base = call.host.settings;
  return {
    rootDir: outer?.rootDir ?? own.rootDir ?? base.rootDir,
    allowNetwork: outer?.allowNetwork ?? own.allowNetwork ?? base.allowNetwork,
    maxOutputBytes: outer?.maxOutputBytes ?? own.maxOutputBytes ?? base.maxOutputBytes,
    timeoutMs: outer?.timeoutMs ?? own.timeoutMs ?? base.timeoutMs,
    isolation: outer?.isolation ?? own.isolation ?? base.isolation ?? DEFAULT_SETTINGS.isolation,
  };
}

function createLog(call: Call): ToolLog {
  const write =
    (level: "debug" | "info" | "warn" | "error"): ToolLog["info"] =>
    (message, data) =>
      tell(call, { type: "call-logged", level, message, data });
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

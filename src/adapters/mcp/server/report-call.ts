/** Forwards the progress of a tool, if the client requested it, and its log messages to the client. */
import type { ServerContext } from "@modelcontextprotocol/server";
import type { RuntimeEvent } from "../../../invoke/events.ts";
import type { Runtime } from "../../../runtime/runtime.ts";

export interface CallReport {
  /** Stops forwarding: the result follows. */
  end(): Promise<void>;
}

export function reportCall(runtime: Runtime, runId: string, ctx: ServerContext): CallReport {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  let last: number | undefined;
  let sent = Promise.resolve();
  const send = (notify: () => Promise<void>): void => {
    // A failed notification must not fail the call: the client may have disconnected.
    sent = sent.then(notify).catch(() => undefined);
  };
  const stop = runtime.subscribe((event) => {
    if (event.type === "call-logged" && event.runId === runId) send(() => log(ctx, event));
    if (event.type !== "call-progress" || event.runId !== runId || progressToken === undefined) return;
    const { progress, total } = numbersIn(event.data);
    last = nextProgress(last, progress);
    const { message } = event;
    const params = {
      progressToken,
      progress: last,
      ...(total === undefined ? {} : { total }),
      ...(message === "" ? {} : { message }),
    };
    send(() => ctx.mcpReq.notify({ method: "notifications/progress", params }));
  });
  return {
    end: () => {
      stop();
      return sent;
    },
  };
}

/** The protocol requires increasing numbers. A value that does not increase is replaced by the smallest step up. */
function nextProgress(last: number | undefined, reported: number | undefined): number {
  if (last === undefined) return reported ?? 1;
  if (reported === undefined) return last + 1;
  return reported > last ? reported : last + Math.max(Math.abs(last), 1) * 1e-9;
}

const LEVELS = { debug: "debug", info: "info", warn: "warning", error: "error" } as const;

/** The SDK filters by the log level of the client. */
function log(ctx: ServerContext, event: Extract<RuntimeEvent, { type: "call-logged" }>): Promise<void> {
  const { level, message, data, toolName } = event;
  const text = data === undefined ? message : { message, data };
  return ctx.mcpReq.log(LEVELS[level], text, toolName);
}

function numbersIn(data: unknown): { progress?: number; total?: number } {
  if (typeof data !== "object" || data === null) return {};
  const { progress, total } = data as Record<string, unknown>;
  return {
    ...(isNumber(progress) ? { progress } : {}),
    ...(isNumber(total) ? { total } : {}),
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Passes what a tool says of its progress on to the client that asked for it. */
import type { ServerContext } from "@modelcontextprotocol/server";
import type { Runtime } from "../../../runtime/runtime.ts";

export interface ProgressReport {
  /** Nothing is sent after this: the result follows. */
  end(): Promise<void>;
}

export function reportProgress(runtime: Runtime, runId: string, ctx: ServerContext): ProgressReport {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { end: () => Promise.resolve() };
  let progress = 0;
  let sent = Promise.resolve();
  const stop = runtime.subscribe((event) => {
    if (event.type !== "call-progress" || event.runId !== runId) return;
    const { message } = event;
    const { progress: told, total } = numbersIn(event.data);
    // The protocol wants numbers that grow, whatever the tool says.
    progress = told !== undefined && told > progress ? told : progress + 1;
    const params = { progressToken, progress, ...(total === undefined ? {} : { total }), message };
    sent = sent
      .then(() => ctx.mcpReq.notify({ method: "notifications/progress", params }))
      // A client that is gone receives nothing; the call continues, and so must its result.
      .catch(() => undefined);
  });
  return {
    end: () => {
      stop();
      return sent;
    },
  };
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

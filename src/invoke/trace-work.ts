/** Spans around work that is not a call: activations of runs, agents, and requests to models. */
import { ToolwrightError } from "../errors.ts";
import type { Transaction } from "../store/store.ts";
import { exchangeRunTrace, exchangeScopeTrace } from "../store/tables/traces.ts";
import type { Host } from "./host.ts";
import { Released } from "./run-release.ts";
import type { Scope } from "./scope.ts";
import type {
  AgentAbout,
  ChatAbout,
  ChatAnswer,
  EarlierSpan,
  OpenSpan,
  Work,
  WorkEnd,
  WorkPlace,
} from "./telemetry.ts";

type Linker = (span: OpenSpan) => Promise<void>;

/**
 * Runs `body` in a span, if there is telemetry.
 * @param body receives a function that links the span to earlier ones: called once the run is in the store
 */
export async function traceWork<T>(
  host: Host,
  work: Work,
  body: (link: () => Promise<void>) => Promise<T>,
  { linkTo, endOf }: { readonly linkTo?: Linker; readonly endOf?: (result: T) => WorkEnd } = {},
): Promise<T> {
  const { telemetry } = host;
  if (telemetry === undefined) return body(async () => undefined);
  const span = telemetry.open(work);
  // A missing link must not fail the work. If the store fails, the work itself reports it.
  const link = async (): Promise<void> => {
    if (span.trace !== null) await linkTo?.(span).catch(() => undefined);
  };
  try {
    const result = await span.within(() => body(link));
    const { status, ...end } = endOf?.(result) ?? {};
    span.end({ ...end, status: toRunStatus(status) });
    return result;
  } catch (error) {
    span.end(endOfThrown(error));
    throw error;
  }
}

/** Agents and loops have their own words for how they ended. Spans use the words of `runtime.runs`. */
function toRunStatus(status: string | undefined): string | undefined {
  if (status === "waiting") return "waiting-approval";
  return status === "complete" ? "finished" : status;
}

/** Links an activation to the previous one, or to the run that this one was forked from. */
export function linkToRun(host: Host, runId: string): Linker {
  return async (span) => {
    const { own, parent } = await exchange(host, () => exchangeRunTrace(runId, span.trace ?? ""));
    if (own !== null) span.link({ trace: own, reason: "resume" });
    else if (parent !== null) span.link({ trace: parent, reason: "fork" });
  };
}

/** An agent that runs in a task or in a call, as a part of its run. */
export function traceAgentInside<T>(
  scope: Scope,
  about: AgentAbout,
  body: () => Promise<T>,
  endOf?: (result: T) => WorkEnd,
): Promise<T> {
  const { host } = scope;
  // A scope may have several agents, one after the other or side by side. A resume starts them in the same order.
  const place = scope.nextAgent();
  const linkTo: Linker = async (span) => {
    // An agent in a call: the span of the call has the link.
    if (scope.parent !== undefined) return;
    await scope.ready;
    const { attempt } = scope;
    const trace = span.trace ?? "";
    const earlier = await exchange(host, () => exchangeScopeTrace(scope.id, place, { trace, attempt }));
    if (earlier === undefined) return;
    const reason = attempt > (earlier.attempt ?? 1) ? "retry" : "resume";
    span.link({ trace: earlier.trace, reason });
  };
  const work: Work = { type: "agent", place: placeOf(scope), ...about };
  // The body starts immediately: it takes its place among the loops of the scope synchronously.
  const linked = async (link: () => Promise<void>): Promise<T> => {
    const running = body();
    // It may fail while the link is stored; its caller sees the failure below.
    running.catch(() => undefined);
    await link();
    return running;
  };
  return traceWork(host, work, linked, endOf === undefined ? { linkTo } : { linkTo, endOf });
}

/** Called around a request to a model, never for a stored response. */
export function traceChat<T>(
  scope: Scope,
  about: ChatAbout,
  request: () => Promise<T>,
  answerOf: (result: T) => ChatAnswer,
): Promise<T> {
  if (scope.host.telemetry === undefined) return request();
  const work: Work = { type: "chat", place: placeOf(scope), ...about };
  return traceWork(scope.host, work, request, { endOf: (result) => ({ answer: answerOf(result) }) });
}

/** A response that is streamed ends later than the function that opens it. */
export function openChat(scope: Scope, about: ChatAbout): OpenSpan | undefined {
  return scope.host.telemetry?.open({ type: "chat", place: placeOf(scope), ...about });
}

export function placeOf({ identity, kind, attempt }: Scope): WorkPlace {
  const { runId, nodeId, iteration } = identity;
  return { runId, kind, nodeId, iteration, attempt };
}

/** Errors of other libraries are named by their class: their messages are content. */
export function endOfThrown(error: unknown): WorkEnd {
  if (error instanceof Released) return { status: "released" };
  if (!ToolwrightError.is(error)) return { errorType: nameOf(error) };
  // A call in it waits for approval: nothing has failed.
  return error.code === "TOOL_APPROVAL_PENDING" ? { status: "waiting-approval" } : { errorType: error.code };
}

/** What a class may be called. A library may put anything into the name of an error, even content. */
const CLASS_NAME = /^[\p{L}_$][\p{L}\p{N}_$.]{0,99}$/u;

/** `error.type` of an error without a code. */
export function nameOf(error: unknown): string {
  const name: unknown = error instanceof Error ? error.name : undefined;
  return typeof name === "string" && CLASS_NAME.test(name) ? name : "_OTHER";
}

/** Why a call has an earlier span. */
export function earlierSpan(
  row: { readonly trace: string | null; readonly attempt: number; readonly status: string },
  attempt: number,
): EarlierSpan | undefined {
  if (row.trace === null) return undefined;
  if (row.attempt < attempt) return { trace: row.trace, reason: "retry" };
  return { trace: row.trace, reason: row.status === "pending" ? "decision" : "resume" };
}

function exchange<T>({ store }: Host, work: () => Transaction<T>): Promise<T> {
  return store.transaction(work, "normal");
}

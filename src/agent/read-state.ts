/** Reads the state after an invoke from the store, so it includes the calls of every process that worked on the run. */
import { type Approval, toApproval } from "../invoke/approval.ts";
import { APPROVAL_RESOLUTIONS } from "../invoke/approvals/decision.ts";
import { decodeError, messageOf } from "../invoke/error-record.ts";
import type { Host } from "../invoke/host.ts";
import { listApprovals } from "../store/tables/approvals.ts";
import { listCache } from "../store/tables/cache.ts";
import { reportInterrupted } from "../store/tables/report-interrupted.ts";
import {
  callOfScopeAround,
  callsOfEarlierTurns,
  callsOfScope,
  type FoundCall,
} from "../store/tables/run-calls.ts";
import type { ScopeKey } from "../store/tables/scopes.ts";
import type { Transaction } from "../store/store.ts";
import { saysError } from "../tool/model-answer.ts";
import { decode } from "../util/encode.ts";
import { toShownValue } from "../util/shown-value.ts";
import type { StoredResult } from "./stored-result.ts";
import type { MessageMemory } from "./message-memory.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { AgentState, PendingToolApproval, ToolHistoryEntry } from "./state.ts";
import { decoded, wholeText } from "./tools/call-text.ts";

/** The run and the scope that the state describes. */
export interface StateSource {
  readonly host: Host;
  readonly scope: ScopeKey;
  readonly budgetId: string;
  readonly turn: number;
  /** The entries of earlier invokes, from the previous state; read from the store where absent. */
  readonly history: readonly ToolHistoryEntry[] | undefined;
  readonly messages: readonly AgentMessage[];
  readonly memory: MessageMemory;
  /** The executionIds of the response whose calls wait for approval, in its order. */
  readonly waitingCalls: readonly string[];
}

export async function readState(source: StateSource, result: StoredResult): Promise<AgentState> {
  const { host, scope, budgetId, turn, messages } = source;
  const now = host.clock.now();
  const isWaiting = result.status === "waiting";
  const readAll = () =>
    host.store.read(function* () {
      return {
        calls: yield* callsOfScope(scope),
        earlier: source.history === undefined ? yield* callsOfEarlierTurns(scope) : [],
        requests: isWaiting ? yield* requestsOf(scope, now) : [],
        cache: yield* listCache(budgetId, now),
      };
    });
  const { found: read, reported } = await reportInterrupted(
    readAll,
    ({ calls, earlier }) => [...calls, ...earlier],
    (ownerId) => host.isOwnerAlive(ownerId),
  );
  const toEntries = (calls: readonly FoundCall[]) => calls.map((call) => toEntry(reported(call)));
  const own = new Set(read.calls.map(({ key }) => key));
  const before =
    source.history?.filter(({ executionId }) => !own.has(executionId)) ?? toEntries(read.earlier);
  const all = [...messages, ...result.added.map((message) => source.memory.keep(message))];
  const toolHistory = [...before, ...inOrder(toEntries(read.calls), result.added, source.waitingCalls)];
  return {
    runId: scope.runId,
    status: result.status,
    messages: all,
    turn: { number: turn, began: messages.length, length: all.length },
    toolHistory,
    toolCache: Object.fromEntries(
      read.cache.map(({ toolName, cacheKey, outputJson }) => [
        `${toolName}:${cacheKey}`,
        { toolName, output: toShownValue(decode(outputJson)) ?? null },
      ]),
    ),
    toolCallCount: toolHistory.length,
    pendingApprovals: inCallOrder(read.requests, source.waitingCalls).map((one) =>
      toPending(one, read.calls),
    ),
    plan: result.plan.version === 0 ? null : result.plan,
    planVersion: result.plan.version,
    usage: result.usage,
    context: result.context,
  };
}

/** A pending approval, and the call of the agent that it belongs to or is nested in. */
interface Request {
  readonly approval: Approval;
  readonly topKey: string;
}

function* requestsOf(scope: ScopeKey, now: number): Transaction<Request[]> {
  const requests: Request[] = [];
  for (const row of yield* listApprovals({ runId: scope.runId, status: "pending" }, now)) {
    if (row.nodeId !== scope.nodeId || row.iteration !== scope.iteration) continue;
    const approval = toApproval(row);
    const topKey = yield* callOfScopeAround(scope, approval.callKey);
    // Calls of the caller may wait alongside this agent.
    if (topKey !== undefined) requests.push({ approval, topKey });
  }
  return requests;
}

function inCallOrder(requests: readonly Request[], executionIds: readonly string[]): Request[] {
  return requests.toSorted(
    (one, other) => executionIds.indexOf(one.topKey) - executionIds.indexOf(other.topKey),
  );
}

/** In the order of the model's calls. @param waitingCalls of the response that is not in the messages yet */
function inOrder(
  entries: readonly ToolHistoryEntry[],
  added: readonly AgentMessage[],
  waitingCalls: readonly string[],
): ToolHistoryEntry[] {
  const answered = added.flatMap(({ executionId }) => executionId ?? []);
  const indexes = new Map([...answered, ...waitingCalls].map((executionId, index) => [executionId, index]));
  const indexOf = ({ executionId }: ToolHistoryEntry): number => indexes.get(executionId) ?? Infinity;
  return entries.toSorted((one, other) => {
    const [a, b] = [indexOf(one), indexOf(other)];
    return a === b ? 0 : a - b;
  });
}

function toEntry(call: FoundCall): ToolHistoryEntry {
  const { startedAtMs, finishedAtMs } = call;
  const startedAt = new Date(startedAtMs).toISOString();
  const output = decoded(wholeText(call, "output"));
  const error = call.errorJson === null ? messageOfFailure(output) : decodeError(call.errorJson).message;
  return {
    executionId: call.key,
    toolName: call.toolName,
    args: toShownValue(decoded(wholeText(call, "input"))) ?? null,
    output: toShownValue(output) ?? null,
    status: statusOf(call, output),
    ...(error === undefined ? {} : { error }),
    fromCache: call.fromCache,
    tool_call_id: call.toolCallId,
    timestamp: startedAt,
    startedAt,
    finishedAt: finishedAtMs === null ? null : new Date(finishedAtMs).toISOString(),
    durationMs: finishedAtMs === null ? null : finishedAtMs - startedAtMs,
  };
}

/** A tool that returns `is_error: true` has run and failed: model and history treat its output as an error. */
function statusOf({ status }: FoundCall, output: unknown): ToolHistoryEntry["status"] {
  if (status === "denied") return "rejected";
  return status === "success" && saysError(output) ? "error" : status;
}

function messageOfFailure(output: unknown): string | undefined {
  return saysError(output) ? messageOf(output) : undefined;
}

function toPending({ approval: request, topKey }: Request, calls: readonly FoundCall[]): PendingToolApproval {
  const shown = calls.find(({ key }) => key === topKey);
  return {
    id: request.id,
    toolCallId: shown?.toolCallId ?? undefined,
    toolName: request.toolName,
    args: toShownValue(request.args) ?? null,
    status: "pending",
    kind: request.kind,
    prompt: request.prompt,
    defaults: toShownValue(request.defaults),
    ...(request.kind === "replay" ? { resolutions: APPROVAL_RESOLUTIONS } : {}),
    executionId: request.callKey,
    parentExecutionId: request.parentKey,
    requestedAt: new Date(request.requestedAtMs).toISOString(),
    expiresAt: request.expiresAtMs === undefined ? undefined : new Date(request.expiresAtMs).toISOString(),
  };
}

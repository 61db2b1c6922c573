/**
 * Runs a turn of a chat with the agent, whether or not a client listens. After a crash or a decision it starts from the
 * beginning: recorded responses and calls are replayed, and the first one that is not recorded is live.
 */
import { currentScope } from "../../../invoke/call-in-context.ts";
import { runTurn, type Turn } from "../../../loop/run-turn.ts";
import type { OpenRuntime } from "../../../runtime/create-runtime.ts";
import { aboutSdkAgent } from "../../../model/about-agent.ts";
import { isLanguageModel, resolveLanguageModel } from "../../../model/sdk-model.ts";
import { isStopRequested, wantStream } from "../../../store/tables/streams.ts";
import { originOf } from "../../../loop/recorded-responses.ts";
import { toPlainJson } from "../../../stream/result-parts.ts";
import { quietAgent } from "../quiet-agent.ts";
import { journalModel } from "../recorded-model.ts";
import { type BegunTurn, CHAT_TURN, inputHashOf } from "./chat-turns.ts";
import { type StoredAnswer, storedChunks } from "./stored-answer.ts";

/** The part of an AI SDK agent that is used. */
export interface ChatAgent {
  readonly tools?: Readonly<Record<string, unknown>> | undefined;
  stream(options: never): PromiseLike<unknown>;
}

export interface TurnJob {
  readonly chatId: string;
  readonly agent: ChatAgent;
  /** As it is stored; for a turn that began before, its own input. */
  readonly began: BegunTurn;
  /** Stops the turn for good. */
  readonly stop: AbortController;
  /** Called when this process drives the turn. The turn continues when the promise resolves. */
  readonly onBegin: (turn: number) => Promise<void>;
}

/** @throws TOOL_RUN_CONFLICT when another process drives the chat, and errors of the model */
export async function driveTurn(runtime: OpenRuntime, job: TurnJob): Promise<void> {
  const { chatId, began, stop } = job;
  const { host } = runtime;
  await host.store.transaction(() => wantStream(chatId), "normal");
  await runTurn<void>(
    runtime,
    {
      runId: chatId,
      kind: CHAT_TURN,
      name: "chat",
      about: aboutSdkAgent(job.agent),
      inputHash: inputHashOf(began.key),
      began,
      hasOwnBudget: true,
      signal: stop.signal,
    },
    async (turn) => {
      const stopWatching = await watchForStop(runtime, job, turn.number);
      try {
        await job.onBegin(turn.number);
        await runAgent(runtime, job, turn);
      } finally {
        await stopWatching();
      }
    },
    () => undefined,
  );
}

/** A request to stop may come to any process. */
async function watchForStop(
  { host }: OpenRuntime,
  { chatId, stop }: TurnJob,
  turn: number,
): Promise<() => Promise<void>> {
  const look = async (): Promise<void> => {
    if (await host.store.read(() => isStopRequested(chatId, turn))) stop.abort(new Error("stopped"));
  };
  const stopListening = await host.streams.listen(chatId, {
    // If the store does not answer now, the next commit tries again.
    onChange: () => void look().catch(() => undefined),
  });
  await look();
  return stopListening;
}

async function runAgent({ host }: OpenRuntime, job: TurnJob, turn: Turn): Promise<void> {
  const { agent, chatId, stop } = job;
  const began = turn.readBegan() as BegunTurn;
  if (!stop.signal.aborted) await consume(agent, began, stop.signal, turn);
  if (!stop.signal.aborted && turn.scope.root.waiting.size > 0) return;
  const status: StoredAnswer["status"] = stop.signal.aborted ? "stopped" : "finished";
  const chunks = await storedChunks(host, chatId, turn.number, agent.tools ?? {});
  const result: StoredAnswer = { status, chunks };
  turn.end(result, { ...began, messages: [] });
}

interface SdkPart {
  readonly type: string;
  readonly error?: unknown;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly output?: unknown;
}

async function consume(agent: ChatAgent, began: BegunTurn, signal: AbortSignal, turn: Turn): Promise<void> {
  const { settings } = agent as { readonly settings?: { readonly model?: unknown } };
  const model = resolveLanguageModel(settings?.model);
  const options = {
    messages: began.messages,
    abortSignal: signal,
    ...(isLanguageModel(model) ? { model: journalModel(model, () => undefined) } : {}),
  };
  const result = (await quietAgent(agent).stream(options as never)) as {
    readonly stream: AsyncIterable<SdkPart>;
  };
  let failure: { readonly error: unknown } | undefined;
  for await (const part of result.stream) {
    if (part.type === "error") failure ??= { error: part.error };
    else publishForeign(part, turn);
  }
  // A stream that was stopped may end with an error.
  if (failure !== undefined && !signal.aborted) throw failure.error;
}

/** Results of tools of other libraries, and of calls that the SDK refused. Results of our own tools are known already. */
function publishForeign({ type, toolCallId, toolName, output, error }: SdkPart, { scope }: Turn): void {
  if (toolCallId === undefined || toolName === undefined) return;
  const stream = scope.host.streams.current(scope.identity.runId);
  const origin = originOf(currentScope() ?? scope);
  const named = { toolCallId, toolName };
  if (type === "tool-result")
    stream?.publishResult(origin, toolCallId, { type: "tool-result", ...named, output: toPlainJson(output) });
  if (type === "tool-error") {
    const message = error instanceof Error ? error.message : String(error);
    stream?.publishResult(origin, toolCallId, {
      type: "tool-error",
      ...named,
      error: { code: "TOOL_EXECUTION_FAILED", message },
    });
  }
}

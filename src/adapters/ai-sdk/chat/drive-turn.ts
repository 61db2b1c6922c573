/**
 * Runs a turn of a chat with the agent, whether or not a client listens. After a crash or a decision it starts from the
 * beginning: recorded responses and calls are replayed, and the first one that is not recorded is live.
 */
import { ToolwrightError } from "../../../errors.ts";
import type { Scope } from "../../../invoke/scope.ts";
import { runTurn, type Turn } from "../../../loop/run-turn.ts";
import type { OpenRuntime } from "../../../runtime/create-runtime.ts";
import { aboutSdkAgent } from "../../../model/about-agent.ts";
import { isStopRequested, wantStream } from "../../../store/tables/streams.ts";
import { answerRequests } from "../answer-requests.ts";
import { publishForeign, type SdkPart, waits } from "../publish-foreign.ts";
import { quietAgent } from "../quiet-agent.ts";
import { noteDriven } from "../../../tool/approval-checks.ts";
import { isSdkAgent, recordedAgent } from "../recorded-agent.ts";
import { createJournal } from "../recorded-model.ts";
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

/** Drives the agent until it has answered, or waits. */
async function consume(given: ChatAgent, began: BegunTurn, signal: AbortSignal, turn: Turn): Promise<void> {
  const { agent, model } = await recordedAgent(
    given,
    createJournal(() => undefined),
  );
  const options = { abortSignal: signal, ...(model === undefined ? {} : { model }) };
  const { scope } = turn;
  if (isSdkAgent(given)) noteDriven(scope);
  let messages: readonly unknown[] | undefined = began.messages;
  while (messages !== undefined) {
    const said = await consumeLoop(agent, { ...options, messages }, scope);
    if (signal.aborted || scope.root.waiting.size > 0) return;
    assertRecorded(scope);
    messages = await answerRequests({ scope, tools: agent.tools ?? {}, messages, said });
  }
}

interface ChatLoopResult {
  readonly stream: AsyncIterable<SdkPart>;
  readonly responseMessages?: PromiseLike<readonly unknown[]>;
  readonly response?: PromiseLike<{ readonly messages?: readonly unknown[] }>;
}

/** @returns the messages that the loop added */
async function consumeLoop(
  agent: ChatAgent,
  options: { readonly abortSignal: AbortSignal; readonly messages: readonly unknown[] },
  scope: Scope,
): Promise<readonly unknown[]> {
  const { abortSignal: signal } = options;
  const result = (await quietAgent(agent).stream(options as never)) as ChatLoopResult;
  let failure: { readonly error: unknown } | undefined;
  for await (const part of result.stream) {
    if (part.type === "error") failure ??= { error: part.error };
    else publishForeign(part, scope, agent.tools ?? {});
  }
  // A stream that was stopped may end with an error, and so does one in which a call waits.
  if (signal.aborted || (failure !== undefined && waits(failure.error))) return [];
  if (failure !== undefined) throw failure.error;
  return (await result.responseMessages) ?? (await result.response)?.messages ?? [];
}

/** Without its responses the answer would be empty, and a crash would request them again. */
function assertRecorded({ root }: Scope): void {
  if (root.asksModel) return;
  throw new ToolwrightError(
    "TOOL_OPTION_INVALID",
    "createChatHandler: the responses of this agent cannot be recorded, because it does not show its model.",
    {
      details: { option: "agent" },
      hint: 'Pass a ToolLoopAgent, or wrap the model that the agent asks in recordModel of "toolwright/ai-sdk".',
    },
  );
}

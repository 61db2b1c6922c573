/** The client of a chat: it sends its message again until it has the whole answer. */
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Step } from "./plan.ts";
import { finalText, toPrompt } from "./programs/model.ts";
import type { Slot } from "./slot.ts";
import type { Tally } from "./tally.ts";

const AGAIN_MS = 150;

/** Two turns: the first two orders, then the others. */
export async function runChat(job: Job, slot: Slot, tally: Tally, signal: AbortSignal): Promise<void> {
  const turns: (readonly Step[])[] = [job.steps.slice(0, 2), job.steps.slice(2)];
  const messages: UIMessage[] = [];
  for (const [n, steps] of turns.entries()) {
    if (steps.length === 0) continue;
    messages.push({ id: `u${n}`, role: "user", parts: [{ type: "text", text: toPrompt(steps) }] });
    messages.push(await untilAnswered({ job, messages, steps, slot, tally, signal }));
  }
}

interface Turn {
  readonly job: Job;
  readonly messages: readonly UIMessage[];
  readonly steps: readonly Step[];
  readonly slot: Slot;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

async function untilAnswered(turn: Turn): Promise<UIMessage> {
  for (;;) {
    turn.signal.throwIfAborted();
    const answer = await ask(turn).catch((error: unknown) => {
      // The server was killed, its store failed, or the turn is driven by a process that is stopped.
      const text = String(error);
      turn.tally.trace(`client of ${turn.job.runId}: ${text.slice(0, 200)} … ${text.slice(-800)}`);
      return undefined;
    });
    if (answer !== undefined && textOf(answer).endsWith(finalText(turn.steps))) return answer;
    await sleep(AGAIN_MS);
  }
}

async function ask({ job, messages, slot, signal }: Turn): Promise<UIMessage | undefined> {
  const api = await slot.url();
  if (api === undefined) return undefined;
  const transport = new DefaultChatTransport({ api });
  const stream = await transport.sendMessages({
    chatId: job.runId,
    messages: [...messages],
    trigger: "submit-message",
    messageId: undefined,
    abortSignal: signal,
  });
  let last: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream, terminateOnError: true })) last = state;
  return last;
}

function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

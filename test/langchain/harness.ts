/** The hand-written loop from LangChain's guides, on its own fake model. */
import { type AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { AIMessage as Said } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import type { DynamicStructuredTool } from "@langchain/core/tools";

type Turn = string | readonly [name: string, args: Record<string, unknown>, id: string][];

/** Calls in each turn, or a text that ends the loop. */
export async function loop(
  tools: readonly DynamicStructuredTool[],
  turns: readonly Turn[],
  config: { signal?: AbortSignal } & Record<string, unknown> = {},
): Promise<BaseMessage[]> {
  const model = fakeModel();
  for (const turn of turns) {
    if (typeof turn === "string") model.respond(new Said(turn));
    else model.respondWithTools(turn.map(([name, args, id]) => ({ name, args, id })));
  }
  const bound = model.bindTools([...tools]);
  const messages: BaseMessage[] = [new HumanMessage("Go.")];
  for (;;) {
    const said: AIMessage = await bound.invoke(messages, config);
    messages.push(said);
    const calls = said.tool_calls ?? [];
    if (calls.length === 0) return messages;
    const answers = calls.map((call) => {
      const tool = tools.find(({ name }) => name === call.name);
      if (tool === undefined) throw new Error(`no tool ${call.name}`);
      return tool.invoke({ ...call, type: "tool_call" as const }, config);
    });
    messages.push(...((await Promise.all(answers)) as BaseMessage[]));
  }
}

/** The results of the calls: id, status and text, in order. */
export function answersIn(messages: readonly BaseMessage[]): [string, string | undefined, string][] {
  return messages.flatMap((message) =>
    message instanceof ToolMessage ? [[message.tool_call_id, message.status, message.text]] : [],
  );
}

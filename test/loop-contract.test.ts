/** The loops that run our tools, each on a scripted model: all hold the same contract. */
import { type BaseMessage, AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { generateText, isStepCount, type ModelMessage, ToolLoopAgent } from "ai";
import { createAgent } from "langchain";
import { createSmartAgent, runAgentLoop } from "toolwright";
import { toAISDKTools } from "toolwright/ai-sdk";
import { toLangChainTools } from "toolwright/langchain";
import { createMcpServer, MCP_IDEMPOTENCY_KEY } from "toolwright/mcp";
import { toOpenAIAgentTools } from "toolwright/openai-agents";
import { createScriptedModel, type ScriptedModel } from "toolwright/testing";
import { onTestFinished } from "vitest";
import { resultsIn, serve, user } from "./anthropic/harness.ts";
import { type LoopAdapter, loopContract, type LoopTurn } from "./loop-contract.ts";
import { answersIn, calls, runner, say, script } from "./openai-agents/harness.ts";

/** The turn follows from the conversation, so it is the same when a loop resumes. */
function scriptedModel(turns: readonly LoopTurn[]): ScriptedModel {
  return createScriptedModel([({ turn }) => scripted(turns[turn])], { atEnd: "repeat-last" });
}

function scripted(turn: LoopTurn = "Done.") {
  if (typeof turn === "string") return turn;
  return turn.map(({ name, args, id }) => ({ toolName: name, input: args, toolCallId: id }));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function aiSdkResults(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) =>
    message.role !== "tool"
      ? []
      : message.content.flatMap((part) =>
          part.type === "tool-result" && "value" in part.output ? [textOf(part.output.value)] : [],
        ),
  );
}

const ADAPTERS: readonly LoopAdapter[] = [
  {
    name: "the AI SDK's generateText",
    drive: async ({ runtime, runId, tools, turns, signal }) => {
      const result = await runtime.run({ runId }, () =>
        generateText({
          model: scriptedModel(turns),
          tools: toAISDKTools(tools),
          prompt: "Go.",
          stopWhen: isStepCount(5),
          abortSignal: signal,
        }),
      );
      return aiSdkResults(result.responseMessages);
    },
  },
  {
    name: "the AI SDK's ToolLoopAgent",
    drive: async ({ runtime, runId, tools, turns, signal }) => {
      const agent = new ToolLoopAgent({ model: scriptedModel(turns), tools: toAISDKTools(tools) });
      const result = await runtime.run({ runId }, () =>
        agent.generate({ prompt: "Go.", abortSignal: signal }),
      );
      return aiSdkResults(result.responseMessages);
    },
  },
  {
    name: "runAgentLoop on the Anthropic SDK",
    drive: async ({ runtime, runId, tools, turns, signal }) => {
      const { client } = await serve(
        [
          ({ body }) => {
            const index = body.messages.filter(({ role }) => role === "assistant").length;
            return scripted(turns[index]);
          },
        ],
        { atEnd: "repeat-last" },
      );
      const messages = [user("Go.")];
      const result = await runAgentLoop({ client, model: "m", messages, tools, runtime, runId, signal });
      return result.messages.flatMap((message) => resultsIn(message).map(({ content }) => textOf(content)));
    },
  },
  {
    name: "a smart agent",
    drive: async ({ runtime, runId, tools, turns, signal }) => {
      const agent = createSmartAgent({ model: scriptedModel(turns), tools, runtime });
      const { messages } = await agent.invoke({ messages: [user("Go.")], runId }, { signal });
      return messages.flatMap((message) =>
        message.role === "tool" ? [textOf((message as { content: unknown }).content)] : [],
      );
    },
  },
  {
    name: "the OpenAI Agents SDK",
    drive: async ({ runtime, runId, tools, turns, signal }) => {
      const responses = turns.map((turn) =>
        typeof turn === "string"
          ? say(turn)
          : calls(...turn.map(({ name, args, id }): [string, typeof args, string] => [name, args, id])),
      );
      const { agent, model } = script(toOpenAIAgentTools(tools), ...responses);
      await runtime.run({ runId }, () => runner.run(agent, "Go.", { signal }));
      return answersIn(model.lastCall?.request).map(([, text]) => text);
    },
  },
  {
    name: "a LangChain agent",
    drive: async ({ runtime, runId, tools, turns, signal }) => {
      const model = fakeModel();
      for (const turn of turns) {
        if (typeof turn === "string") model.respond(new AIMessage(turn));
        else model.respondWithTools(turn.map(({ name, args, id }) => ({ name, args: { ...args }, id })));
      }
      const agent = createAgent({ model, tools: toLangChainTools(tools) });
      const { messages } = await runtime.run({ runId }, () =>
        agent.invoke({ messages: [new HumanMessage("Go.")] }, { signal }),
      );
      return (messages as BaseMessage[]).flatMap((message) =>
        message instanceof ToolMessage ? [message.text] : [],
      );
    },
  },
  {
    name: "an MCP client on our MCP server",
    drive: async ({ runtime, runId, tools, turns, signal }) => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      await createMcpServer({ tools, runtime }).connect(far);
      const client = new Client({ name: "contract", version: "1" });
      await client.connect(near);
      onTestFinished(() => client.close());
      const answers: string[] = [];
      for (const [turn, list] of turns.entries()) {
        if (typeof list === "string") break;
        // A client names a call by its key; the position in the loop is the same after a restart.
        const results = list.map(({ name, args }, index) => {
          const _meta = { [MCP_IDEMPOTENCY_KEY]: `${runId} ${turn} ${index}` };
          return client.callTool({ name, arguments: { ...args }, _meta }, { signal });
        });
        for (const { content } of await Promise.all(results))
          answers.push((content as { text: string }[])[0]?.text ?? "");
      }
      return answers;
    },
  },
];

for (const adapter of ADAPTERS) loopContract(adapter);

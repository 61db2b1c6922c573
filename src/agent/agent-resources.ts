/** Resources that all invokes of an agent share. Created by the first invoke. */
import { describe } from "../definition/option-checks.ts";
import { type Archive, createArchive } from "./context/archive-message.ts";
import { createNotes, type NoteOf } from "./context/context-window.ts";
import { createMessageCounter, type MessageCounter } from "./context/count-tokens.ts";
import { MessageMemory } from "./message-memory.ts";
import { fromInvocable } from "../model/from-invocable.ts";
import { fromLanguageModel } from "../model/from-language-model.ts";
import { resolveLanguageModel } from "../model/sdk-model.ts";
import { refusal } from "../runtime/options.ts";
import type { AgentModel } from "../model/agent-model.ts";
import type { SmartAgentOptions } from "./options.ts";
import { createToolSet, type ToolSet } from "./tools/agent-tools.ts";

export interface AgentResources {
  readonly options: SmartAgentOptions;
  readonly model: AgentModel;
  readonly tools: ToolSet;
  readonly memory: MessageMemory;
  readonly archive: Archive;
  readonly noteOf: NoteOf;
  readonly counter: Promise<MessageCounter>;
}

export function createAgentResources(options: SmartAgentOptions): AgentResources {
  const model = resolveModel(options.model);
  return {
    options,
    model,
    tools: createToolSet(options),
    memory: new MessageMemory(),
    archive: createArchive(options.toolResponses ?? {}),
    noteOf: createNotes(),
    counter: createMessageCounter(options.countTokens, model.id),
  };
}

/** @throws TOOL_OPTION_INVALID */
function resolveModel(value: unknown): AgentModel {
  const resolved = resolveLanguageModel(value);
  const model = fromLanguageModel(resolved) ?? fromInvocable(resolved);
  if (model !== undefined) return model;
  const hint =
    typeof value === "string"
      ? '. Pass a model of a provider, such as openai("gpt-5") from @ai-sdk/openai; a name alone needs globalThis.AI_SDK_DEFAULT_PROVIDER'
      : "";
  const wanted = "must be an AI SDK model, or an object with invoke(messages)";
  throw refusal("model", `${wanted}, not ${describe(value)}${hint}`);
}

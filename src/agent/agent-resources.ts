/** What is the same for every invoke of an agent. Loaded and made with the first. */
import { type Archive, createArchive } from "./context/archived-form.ts";
import { createMessageCounter } from "./context/count-tokens.ts";
import { MessageMemory } from "./message-memory.ts";
import type { AgentMessage } from "../model/messages.ts";
import { resolveModel } from "../model/resolve-model.ts";
import type { AgentModel } from "../model/agent-model.ts";
import type { SmartAgentOptions } from "./options.ts";
import { createToolSet, type ToolSet } from "./tools/agent-tools.ts";

export interface AgentResources {
  readonly options: SmartAgentOptions;
  readonly model: AgentModel;
  readonly tools: ToolSet;
  readonly memory: MessageMemory;
  readonly archive: Archive;
  readonly sizeOf: Promise<(message: AgentMessage) => number>;
}

export function createAgentResources(options: SmartAgentOptions): AgentResources {
  const model = resolveModel(options.model);
  return {
    options,
    model,
    tools: createToolSet(options),
    memory: new MessageMemory(),
    archive: createArchive(options.toolResponses ?? {}),
    sizeOf: createMessageCounter(options.countTokens, model.id),
  };
}

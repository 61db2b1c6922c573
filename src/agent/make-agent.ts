/** What is the same for every invoke of an agent. Loaded and made with the first. */
import { resolveModel } from "./model/resolve-model.ts";
import type { AgentModel } from "./model/agent-model.ts";
import type { SmartAgentOptions } from "./options.ts";
import { createToolSet, type ToolSet } from "./tools/agent-tools.ts";

export interface Agent {
  readonly options: SmartAgentOptions;
  readonly model: AgentModel;
  readonly tools: ToolSet;
}

export function makeAgent(options: SmartAgentOptions): Agent {
  return { options, model: resolveModel(options.model), tools: createToolSet(options) };
}

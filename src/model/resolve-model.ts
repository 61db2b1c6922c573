/** The model that an agent was given, as its loop sees it. */
import { resolveLanguageModel } from "./sdk-model.ts";
import { refusal } from "../runtime/options.ts";
import type { AgentModel } from "./agent-model.ts";
import { fromInvocable } from "./from-invocable.ts";
import { fromLanguageModel } from "./from-language-model.ts";

/** @throws TOOL_OPTION_INVALID */
export function resolveModel(value: unknown): AgentModel {
  const resolved = resolveLanguageModel(value);
  const model = fromLanguageModel(resolved) ?? fromInvocable(resolved);
  if (model !== undefined) return model;
  const hint = typeof value === "string" ? " Set AI_SDK_DEFAULT_PROVIDER to use models by their names" : "";
  throw refusal("model", `must be a model of the AI SDK, or an object with invoke(messages).${hint}`);
}

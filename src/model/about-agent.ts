/** The telemetry attributes of an AI SDK agent, or of another library's agent with the same fields. */
import type { AgentAbout } from "../invoke/telemetry.ts";
import { resolveLanguageModel } from "./sdk-model.ts";

type Fields = Readonly<Record<string, unknown>>;

/** @param model instead of the model of the agent */
export function aboutSdkAgent(agent: object, model?: unknown): AgentAbout {
  const { name, id, settings } = agent as Fields;
  const used = resolveLanguageModel(model ?? (settings as Fields | undefined)?.["model"]);
  const { modelId, provider } = (typeof used === "object" && used !== null ? used : {}) as Fields;
  return {
    name: textIn(name) ?? textIn(id),
    model: textIn(modelId) ?? textIn(used),
    provider: textIn(provider),
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** What `toOpenAIAgentTools` takes: what the SDK's own `tool()` takes beside the definition. */
import type { FunctionTool, RunContext, tool } from "@openai/agents";
import { refusal } from "../../runtime/options.ts";
import type { ToolwrightError } from "../../errors.ts";

type SdkOptions = Parameters<typeof tool>[0];

export interface OpenAIAgentToolOptions {
  /**
   * `true` has the model follow the schema exactly. Every field has to be required, as OpenAI asks: a tool with an optional
   * one is refused by name. Default `false`.
   */
  readonly strict?: boolean | undefined;
  /**
   * What the model reads of a failure: by default the one shape of errors. `null` throws it, which ends the loop. Calls that
   * wait or were denied are always answers.
   */
  readonly errorFunction?:
    | ((runContext: RunContext<never> | undefined, error: ToolwrightError) => string | PromiseLike<string>)
    | null
    | undefined;
  readonly inputGuardrails?: SdkOptions["inputGuardrails"];
  readonly outputGuardrails?: SdkOptions["outputGuardrails"];
  readonly isEnabled?: SdkOptions["isEnabled"];
  readonly deferLoading?: boolean | undefined;
  readonly allowedCallers?: FunctionTool["allowedCallers"];
  readonly providerData?: FunctionTool["providerData"];
  readonly customDataExtractor?: SdkOptions["customDataExtractor"];
}

const CHECKS: Readonly<Record<keyof OpenAIAgentToolOptions, readonly [(value: unknown) => boolean, string]>> =
  {
    strict: [isBoolean, "must be true or false"],
    errorFunction: [(value) => value === null || typeof value === "function", "must be a function or null"],
    inputGuardrails: [Array.isArray, "must be a list of guardrails"],
    outputGuardrails: [Array.isArray, "must be a list of guardrails"],
    isEnabled: [
      (value) => isBoolean(value) || typeof value === "function",
      "must be true, false or a function",
    ],
    deferLoading: [isBoolean, "must be true or false"],
    allowedCallers: [Array.isArray, "must be a list"],
    providerData: [(value) => typeof value === "object" && value !== null, "must be an object"],
    customDataExtractor: [(value) => typeof value === "function", "must be a function"],
  };

export function checkToolOptions(options: OpenAIAgentToolOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(CHECKS, name)) {
      throw refusal(
        name,
        `is not an option of toOpenAIAgentTools. It takes ${Object.keys(CHECKS).join(", ")}`,
      );
    }
    const [isGood, problem] = CHECKS[name as keyof OpenAIAgentToolOptions];
    if (value !== undefined && !isGood(value)) throw refusal(name, problem);
  }
}

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

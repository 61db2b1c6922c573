/** What `toOpenAIAgentTools` takes: what the SDK's own `tool()` takes beside the definition. */
import type { FunctionTool, RunContext, tool } from "@openai/agents";
import { aBoolean, aFunction, aList, anObject, either } from "../../definition/option-checks.ts";
import { optionTable, type OptionTable } from "../../definition/option-table.ts";
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

export const OPENAI_AGENTS_OPTIONS: OptionTable = optionTable<OpenAIAgentToolOptions>("toOpenAIAgentTools", {
  strict: aBoolean,
  errorFunction: (value, field) => {
    if (value !== null) either("a function or null", aFunction)(value, field);
  },
  inputGuardrails: aList,
  outputGuardrails: aList,
  isEnabled: either("true, false or a function", aBoolean, aFunction),
  deferLoading: aBoolean,
  allowedCallers: aList,
  providerData: anObject,
  customDataExtractor: aFunction,
});

/** The options of `toOpenAIAgentTools`: the options of the SDK's `tool()` that are not part of the definition. */
import type { FunctionTool, RunContext, tool } from "@openai/agents";
import { aBoolean, aFunction, aList, anObject, either } from "../../definition/option-checks.ts";
import { optionTable, type OptionTable } from "../../definition/option-table.ts";
import type { ToolwrightError } from "../../errors.ts";

type SdkOptions = Parameters<typeof tool>[0];

export interface OpenAIAgentToolOptions {
  /**
   * `true` makes the model follow the schema exactly. OpenAI requires every field to be required; a tool with an
   * optional field is refused by name. Default `false`.
   */
  readonly strict?: boolean | undefined;
  /**
   * Returns the text that the model reads after a failure. Default: the standard error shape. `null` throws the
   * error, which ends the loop. Calls that wait for approval or were denied are always answered.
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

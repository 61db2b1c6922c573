/** The options of `toLangChainTools`. An invalid option is refused when the tools are created. */
import type { Approval } from "../../invoke/approval.ts";
import { aFunction, oneOf } from "../../definition/option-checks.ts";
import { optionTable, type OptionTable } from "../../definition/option-table.ts";

export interface LangChainToolOptions {
  /**
   * Called when a call waits for approval. If it throws, the loop ends, as with LangGraph's `interrupt`. When the
   * graph resumes and the request is still pending, the graph stops again.
   */
  readonly onPending?: ((approval: Approval) => unknown) | undefined;
  /**
   * How failures are reported. `"message"` (default): a tool message with status `error` for the model. `"throw"`: an
   * exception, for `toolRetryMiddleware`, `handleToolErrors` and retry policies of nodes. Calls that wait for
   * approval or were denied are always answered.
   */
  readonly errors?: "message" | "throw" | undefined;
  /** `"content_and_artifact"`: the tools return a pair of content (for the model) and artifact (for the program). */
  readonly responseFormat?: "content" | "content_and_artifact" | undefined;
}

export const LANGCHAIN_OPTIONS: OptionTable = optionTable<LangChainToolOptions>("toLangChainTools", {
  onPending: aFunction,
  errors: oneOf("message", "throw"),
  responseFormat: oneOf("content", "content_and_artifact"),
});

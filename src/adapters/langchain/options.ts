/** What `toLangChainTools` takes. A wrong option is refused when the tools are made. */
import type { Approval } from "../../invoke/approval.ts";
import { aFunction, oneOf } from "../../definition/option-checks.ts";
import { optionTable, type OptionTable } from "../../definition/option-table.ts";

export interface LangChainToolOptions {
  /**
   * Called when a call waits for approval. What it throws ends the loop, as LangGraph's `interrupt` does; when the graph is
   * resumed and the request is still not decided, the graph stops again.
   */
  readonly onPending?: ((approval: Approval) => unknown) | undefined;
  /**
   * What becomes of a failure: `"message"` (default) answers the model with a tool message of status `error`; `"throw"`
   * throws it, for `toolRetryMiddleware`, `handleToolErrors` and retry policies of nodes. Calls that wait or were denied are
   * always answers.
   */
  readonly errors?: "message" | "throw" | undefined;
  /** `"content_and_artifact"`: the tools return a pair of content, for the model, and artifact, for the program. */
  readonly responseFormat?: "content" | "content_and_artifact" | undefined;
}

export const LANGCHAIN_OPTIONS: OptionTable = optionTable<LangChainToolOptions>("toLangChainTools", {
  onPending: aFunction,
  errors: oneOf("message", "throw"),
  responseFormat: oneOf("content", "content_and_artifact"),
});

/**
 * A tool whose schema is shown to the model and not checked: our own pipeline validates, logs bad input and answers it. Its
 * response format is shown too: the message that it returns has its content and its artifact.
 */
import { DynamicStructuredTool } from "@langchain/core/tools";

export class UncheckedTool extends DynamicStructuredTool {
  /** Every way to call a tool leads here. */
  override call: DynamicStructuredTool["call"] = (input, config, tags) => {
    const open = Object.create(this, {
      schema: { value: {} },
      responseFormat: { value: "content" },
    }) as this;
    return super.call.call(open, input, config, tags);
  };
}

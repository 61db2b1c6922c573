/**
 * Tools for the SDK's own `client.beta.messages.toolRunner`. Inside `runtime.run` their calls are logged and
 * deduplicated; the runner's requests to the model are not recorded, as they are by `runAgentLoop`.
 */
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { fromObjectInput } from "../../definition/object-schema.ts";
import { callInContext } from "../../invoke/call-in-context.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolLike } from "../../tool/from-tool.ts";
import { toModelAnswer } from "../../tool/model-answer.ts";
import type { ToolSource } from "../../tool/from-tool.ts";
import { defaultRegistry, offerTools } from "../../tool/registry.ts";
import { type Tool, withOrigin } from "../../tool/tool.ts";
import { lazyModule } from "../../util/lazy.ts";
import { toResultBlocks } from "./content-blocks.ts";
import { toAnthropicTool } from "./to-anthropic-tool.ts";

const errors = lazyModule(async () => {
  const { importPeer } = await import("../../load/import-peer.ts");
  return importPeer("@anthropic-ai/sdk", () => import("@anthropic-ai/sdk/lib/tools/ToolError"));
});

/**
 * @example
 * const runner = client.beta.messages.toolRunner({ model, max_tokens: 1024, messages, tools: [toAnthropicRunnableTool(placeOrder)] });
 * const message = await runtime.run({ runId: "monday" }, () => runner.runUntilDone());
 */
export function toAnthropicRunnableTool(tool: ToolLike): BetaRunnableTool<unknown> {
  return toAnthropicRunnableTools([tool])[0] as BetaRunnableTool<unknown>;
}

/** @param source default: the tools of the global registry */
export function toAnthropicRunnableTools(source: ToolSource = defaultRegistry): BetaRunnableTool<unknown>[] {
  return [...offerTools(source)].map(([name, tool]) => withOrigin(convert(name, tool), tool));
}

function convert(name: string, tool: Tool): BetaRunnableTool<unknown> {
  const spec = specOf(tool);
  return {
    ...toAnthropicTool(tool),
    type: "custom",
    name,
    // Our pipeline validates the input, and logs and answers an invalid one.
    parse: (input) => input,
    run: async (input, context) => {
      const signal = context?.signal ?? undefined;
      const outcome = await callInContext(spec, fromObjectInput(spec.inputJsonSchema, input), {
        toolCallId: context?.toolUse.id,
        modelName: name,
        readByModel: true,
        signal,
      });
      signal?.throwIfAborted();
      const { text, isError } = toModelAnswer(spec, outcome);
      const blocks = outcome.status === "success" ? toResultBlocks(outcome.output, outcome.note) : undefined;
      if (!isError) return blocks ?? text;
      const { ToolError } = await errors.get();
      throw new ToolError(blocks ?? text);
    },
  };
}

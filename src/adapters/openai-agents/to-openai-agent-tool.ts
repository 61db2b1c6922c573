/**
 * Converts tools for the OpenAI Agents SDK. They are not strict by default: in strict mode a model sends `null` for
 * an omitted field, and many schemas cannot be expressed. Our pipeline validates the input, and logs and answers an
 * invalid one.
 */
import {
  type Agent,
  type FunctionTool,
  type RunContext,
  tool as createFunctionTool,
  type ToolTimeoutError,
} from "@openai/agents";
import { fromObjectInput, toObjectSchema } from "../../definition/object-schema.ts";
import { checkOptions } from "../../definition/option-table.ts";
import type { NameRule } from "../../definition/provider-names.ts";
import type { CallOptions } from "../../invoke/call.ts";
import { callInContext, needsApprovalInContext } from "../../invoke/call-in-context.ts";
import { timeoutError } from "../../invoke/abort-error.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolLike } from "../../tool/from-tool.ts";
import { toModelAnswer } from "../../tool/model-answer.ts";
import type { ToolSource } from "../../tool/from-tool.ts";
import { defaultRegistry, offerTools } from "../../tool/registry.ts";
import { type Tool, withOrigin } from "../../tool/tool.ts";
import { toAgentOutput } from "./agent-output.ts";
import { OPENAI_AGENTS_OPTIONS, type OpenAIAgentToolOptions } from "./options.ts";
import { recordRejections } from "./record-rejections.ts";
import { toStrictSchema } from "./strict-schema.ts";

/** The SDK replaces other characters by underscores, so two tools could get the same name. */
const NAME_RULE: NameRule = { refused: /[^a-zA-Z0-9_]/g, maxLength: 64 };

type InputSchema = Exclude<FunctionTool["parameters"], { additionalProperties: false }>;

type CallbackState = { readonly runContext: RunContext; readonly agent: Agent };

type CallDetails = NonNullable<Parameters<FunctionTool["invoke"]>[2]>;

/**
 * A function tool for an agent with any context type. The extractor's type is bound to one context, so it is omitted.
 */
export type OpenAIAgentTool = Omit<FunctionTool<unknown, InputSchema>, "customDataExtractor">;

/**
 * The capabilities of a tool in an OpenAI Agents loop.
 * @example
 * execute: (args, ctx: ToolContext<OpenAIAgentsContext<{ userId: string }>>) => ctx.runContext.context.userId
 */
export interface OpenAIAgentsContext<Context = unknown> {
  readonly runContext: RunContext<Context>;
}

/**
 * @example
 * const agent = new Agent({ name: "Shop", tools: [toOpenAIAgentTool(placeOrder)] });
 * await runtime.run({ runId: "monday" }, () => run(agent, "Order apples."));
 */
export function toOpenAIAgentTool(tool: ToolLike, options: OpenAIAgentToolOptions = {}): OpenAIAgentTool {
  return toOpenAIAgentTools([tool], options)[0] as OpenAIAgentTool;
}

/** @param source default: the tools of the global registry */
export function toOpenAIAgentTools(
  source: ToolSource = defaultRegistry,
  options: OpenAIAgentToolOptions = {},
): OpenAIAgentTool[] {
  checkOptions(OPENAI_AGENTS_OPTIONS, options);
  return [...offerTools(source, NAME_RULE)].map(([name, tool]) => convert(name, tool, options));
}

function convert(name: string, tool: Tool, options: OpenAIAgentToolOptions): OpenAIAgentTool {
  const spec = specOf(tool);
  const { inputJsonSchema } = spec;
  const { strict = false, errorFunction, isEnabled, ...sdkOptions } = options;
  const schema = toObjectSchema(inputJsonSchema);
  const converted = createFunctionTool({
    ...(sdkOptions as object),
    ...(isEnabled === undefined ? {} : { isEnabled: isEnabled as boolean }),
    name,
    description: tool.description,
    parameters: (strict ? toStrictSchema(spec.name, { ...schema }) : schema) as unknown as InputSchema,
    strict: strict as false,
    // `execute` returns failures of the tool. It throws only if the loop must end, so the SDK must not catch that.
    errorFunction: null,
    // For a copy with the SDK's own `timeoutMs`: the model reads the same as after our timeout.
    timeoutErrorFunction: (_runContext: unknown, { timeoutMs }: ToolTimeoutError) =>
      JSON.stringify(timeoutError({ spec }, timeoutMs, false).toModel()),
    ...(tool.needsApproval === undefined
      ? {}
      : {
          needsApproval: async (runContext: RunContext, input: unknown, callId?: string) => {
            await recordRejections(spec, name, runContext);
            return needsApprovalInContext(spec, fromObjectInput(inputJsonSchema, input), {
              toolCallId: callId,
              modelName: name,
              readByModel: true,
              capabilities: { runContext },
            });
          },
          isEnabled: async (state: CallbackState) => {
            await recordRejections(spec, name, state.runContext);
            return typeof isEnabled === "function" ? isEnabled(state) : (isEnabled ?? true);
          },
        }),
    execute: async (input: unknown, runContext?: RunContext, details?: CallDetails) => {
      const { signal, toolCall } = details ?? {};
      const outcome = await callInContext(spec, fromObjectInput(inputJsonSchema, input), {
        toolCallId: toolCall?.callId,
        modelName: name,
        readByModel: true,
        signal,
        messageDecision: stateDecision(name, runContext, toolCall?.callId),
        capabilities: { runContext },
      });
      // The SDK handles an aborted call itself.
      signal?.throwIfAborted();
      if (outcome.status === "error" && errorFunction === null) throw outcome.error;
      if (outcome.status === "error" && errorFunction !== undefined && errorFunction !== null) {
        return errorFunction(runContext as RunContext<never> | undefined, outcome.error);
      }
      const { text } = toModelAnswer(spec, outcome);
      return outcome.status === "success" ? toAgentOutput(outcome.output, outcome.note, text) : text;
    },
  });
  return withOrigin(converted, tool);
}

/** The decision in the state of the loop. It applies only if the runtime is configured to trust it. */
function stateDecision(
  toolName: string,
  runContext: RunContext | undefined,
  callId: string | undefined,
): CallOptions["messageDecision"] {
  if (runContext === undefined || callId === undefined) return undefined;
  const approved = runContext.isToolApproved({ toolName, callId });
  return approved === undefined ? undefined : { approved };
}

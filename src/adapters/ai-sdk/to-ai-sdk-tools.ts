/**
 * Adapts names and schemas of tools that a provider would reject. Apart from that, the AI SDK takes tools unchanged.
 */
import { fromObjectInput, isWrapped, toObjectSchema } from "../../definition/object-schema.ts";
import { toSdkSchema } from "../../definition/sdk-schema.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolSource } from "../../tool/from-tool.ts";
import { offerTools } from "../../tool/registry.ts";
import { MODEL_NAME, type Tool, withOrigin } from "../../tool/tool.ts";

/**
 * The context that an AI SDK loop passes to a tool: `execute(args, ctx: ToolContext<AISDKContext<{ userId: string }>>)`.
 * The fields are `undefined` for other callers. A capability of the runtime with the same name takes precedence.
 */
export interface AISDKContext<Context = unknown, Message = unknown, Sandbox = unknown> {
  /** The messages that led to the call. */
  readonly messages?: readonly Message[] | undefined;
  /** The entry of `toolsContext` for this tool. */
  readonly context?: Context | undefined;
  readonly experimental_sandbox?: Sandbox | undefined;
}

/**
 * Returns tools with names and schemas that every provider accepts. The log has the original names and arguments.
 *
 * @example
 * await generateText({ model, tools: toAISDKTools([placeOrder, read]), prompt });
 */
export function toAISDKTools(source: ToolSource): Record<string, Tool> {
  return Object.fromEntries([...offerTools(source)].map(([name, tool]) => [name, forModel(name, tool)]));
}

function forModel(name: string, tool: Tool): Tool {
  const { inputJsonSchema, sdk } = specOf(tool);
  if (!isWrapped(inputJsonSchema) && name === tool.name && sdk.description === undefined) return tool;
  const argsOf = (input: unknown): never => fromObjectInput(inputJsonSchema, input) as never;
  const adapted: Tool = {
    ...tool,
    // A description may be a function of the loop's context, which only the AI SDK calls.
    ...(sdk.description === undefined ? {} : { description: sdk.description as string }),
    ...(isWrapped(inputJsonSchema) ? wrapped(tool, argsOf) : {}),
    // The SDK does not pass the name that the model used.
    execute: (input, options) => tool.execute(argsOf(input), { ...options, [MODEL_NAME]: name }),
    ...(tool.needsApproval === undefined
      ? {}
      : { needsApproval: async (input, options) => tool.needsApproval?.(argsOf(input), options) ?? false }),
  };
  return withOrigin(adapted, tool);
}

/** Every callback receives the input in the form that the tool expects. */
function wrapped(tool: Tool, argsOf: (input: unknown) => never): Partial<Tool> {
  const { inputJsonSchema, sdk } = specOf(tool);
  const { onInputAvailable, inputExamples } = sdk;
  return {
    inputSchema: toSdkSchema(
      () => toObjectSchema(inputJsonSchema),
      async (input) => {
        const checked = await tool.inputSchema.validate(argsOf(input));
        return checked.success ? undefined : checked.error;
      },
    ),
    toModelOutput: (options) => tool.toModelOutput({ ...options, input: argsOf(options.input) }),
    ...(typeof onInputAvailable === "function"
      ? {
          onInputAvailable: (options: { input: unknown }): unknown =>
            onInputAvailable.call(tool, { ...options, input: argsOf(options.input) }),
        }
      : {}),
    ...(Array.isArray(inputExamples)
      ? {
          inputExamples: inputExamples.map((example: { input: unknown }) => ({
            input: { input: example.input },
          })),
        }
      : {}),
  };
}

/** Tools as the AI SDK takes them: they are that already, but a provider may refuse their names or their schemas. */
import { fromObjectInput, isWrapped, toObjectSchema } from "../../definition/object-schema.ts";
import { toSdkSchema } from "../../definition/sdk-schema.ts";
import { specOf } from "../../tool/create-callable.ts";
import { offerTools, type ToolSource } from "../../tool/offer-tools.ts";
import { MODEL_NAME, type Tool, withOrigin } from "../../tool/tool.ts";

/**
 * Under names and with schemas that every provider takes. The log has the tools' own names and arguments.
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
  const made: Tool = {
    ...tool,
    // A function of the loop's context, which only the AI SDK calls.
    ...(sdk.description === undefined ? {} : { description: sdk.description as string }),
    ...(isWrapped(inputJsonSchema) ? wrapped(tool, argsOf) : {}),
    // The SDK does not say under which name a tool was called.
    execute: (input, options) => tool.execute(argsOf(input), { ...options, [MODEL_NAME]: name }),
    ...(tool.needsApproval === undefined
      ? {}
      : { needsApproval: async (input, options) => tool.needsApproval?.(argsOf(input), options) ?? false }),
  };
  return withOrigin(made, tool);
}

/** All that sees the input sees it as the tool takes it. */
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

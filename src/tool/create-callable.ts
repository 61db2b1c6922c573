/** Makes a tool object of a resolved definition. What happens when it is called is decided by where it is called. */
import { TOOL_METADATA } from "../definition/metadata.ts";
import { toOutputJsonSchema } from "../definition/json-schema.ts";
import { assertSameVersion, MADE_BY } from "../definition/package-copy.ts";
import { toSdkSchema } from "../definition/sdk-schema.ts";
import { isUnrepeatable, type ToolSpec } from "../definition/tool-spec.ts";
import { lazyModule } from "../util/lazy.ts";
import { createModelNotes } from "./model-notes.ts";
import { type AnyTool, TOOL_SPEC, type Tool, type ToolCallOptions } from "./tool.ts";

export function createCallable<Args, Output>(spec: ToolSpec): Tool<Args, Output> {
  const notes = createModelNotes();

  const execute = async (args: Args, options: ToolCallOptions = {}): Promise<Output> => {
    const { callTool } = calling.value ?? (await calling.get());
    const { output, note } = await callTool(spec, args, options);
    if (options.toolCallId !== undefined) notes.keep(options.toolCallId, note);
    return output as Output;
  };

  const { outputSchema } = spec;
  return {
    name: spec.name,
    description: spec.description,
    get schema() {
      return spec.schema;
    },
    inputSchema: toSdkSchema<Args>(() => spec.inputJsonSchema),
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: toSdkSchema<Output>(() => toOutputJsonSchema(outputSchema)) }),
    group: spec.group,
    terminal: spec.terminal,
    execute,
    invoke: execute,
    call: execute,
    run: execute,
    func: execute,
    // Also for what may have to be asked about after a crash, so that the loop pauses instead of reading an error.
    ...(spec.needsApproval !== undefined || isUnrepeatable(spec)
      ? {
          needsApproval: async (args: Args, options: ToolCallOptions) =>
            (calling.value ?? (await calling.get())).needsApproval(spec, args, options),
        }
      : {}),
    toModelOutput: (options) => notes.toModelOutput(options),
    [TOOL_METADATA]: { name: spec.name, sideEffect: spec.sideEffect, idempotent: spec.idempotent },
    [TOOL_SPEC]: spec,
  };
}

/** @throws TOOL_PACKAGE_CONFLICT where another version made the tool */
export function specOf(tool: AnyTool): ToolSpec {
  const spec = tool[TOOL_SPEC];
  assertSameVersion(spec[MADE_BY], `Tool "${spec.name}"`);
  return spec;
}

/** What happens when one is called is loaded by the first call of any. */
const calling = lazyModule(() => import("./call-tool.ts"));

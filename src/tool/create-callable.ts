/** Creates the tool object of a spec. Where it is called decides whether the call belongs to a run. */
import { toOutputJsonSchema } from "../definition/json-schema.ts";
import { toSdkSchema } from "../definition/sdk-schema.ts";
import { isUnrepeatable, type ToolSpec } from "../definition/tool-spec.ts";
import { encode } from "../util/encode.ts";
import { lazyModule } from "../util/lazy.ts";
import { carriesSpec, rememberTool, specOfCopy } from "./copied-tool.ts";
import { createModelNotes } from "./model-notes.ts";
import { type AnyTool, TOOL_METADATA, TOOL_SPEC, type Tool, type ToolCallOptions } from "./tool.ts";

export function createCallable<Args, Output>(spec: ToolSpec): Tool<Args, Output> {
  const notes = createModelNotes(spec.sdk.toModelOutput);

  // A copy has the same functions; `this` is then the copy.
  const execute = function (this: unknown, args: Args, options: ToolCallOptions = {}): Promise<Output> {
    let called: ToolSpec;
    try {
      called = specFor(spec, this, options);
    } catch (error) {
      return Promise.reject(error);
    }
    const call = async (onYield?: (item: unknown) => void): Promise<Output> => {
      const { callTool } = calling.value ?? (await calling.get());
      const { output, note } = await callTool(called, args, options, onYield);
      if (options.toolCallId !== undefined) notes.keep(options.toolCallId, note);
      return output as Output;
    };
    return called.yields ? withPreliminaryResults(call) : call();
  };

  const { outputSchema, sdk } = spec;
  const { description: _varying, toModelOutput: _own, ...parts } = sdk;
  const tool = {
    ...parts,
    name: spec.name,
    description: spec.description,
    inputSchema: toSdkSchema<Args>(
      () => spec.inputJsonSchema,
      async (value) => (await checking.get()).problemWithInput(spec, value),
    ),
    ...(outputSchema === undefined
      ? {}
      : {
          outputSchema: toSdkSchema<Output>(
            () => spec.outputJsonSchema ?? toOutputJsonSchema(outputSchema),
            async (value) => (await checking.get()).problemWithOutput(spec, value),
          ),
        }),
    group: spec.group,
    terminal: spec.terminal,
    execute,
    invoke: execute,
    call: execute,
    run: execute,
    func: execute,
    // Tools that may need approval only after a crash have it too, so that the loop pauses instead of reading an error.
    ...(spec.needsApproval !== undefined || isUnrepeatable(spec)
      ? {
          async needsApproval(this: unknown, args: Args, options: ToolCallOptions) {
            const { needsApproval } = calling.value ?? (await calling.get());
            return needsApproval(specFor(spec, this, options), args, options);
          },
        }
      : {}),
    toModelOutput: (options) => notes.toModelOutput(options),
    [TOOL_METADATA]: { name: spec.name, sideEffect: spec.sideEffect, idempotent: spec.idempotent },
    [TOOL_SPEC]: spec,
  } satisfies Omit<Tool<Args, Output>, "schema">;
  return rememberTool(Object.defineProperty(tool, "schema", SCHEMA) as Tool<Args, Output>);
}

/**
 * One getter for all tools, and not in their literal: V8 would store the fields of each tool in a hash table, and every call
 * compares them all (`specOfCopy`).
 */
const SCHEMA: PropertyDescriptor = {
  get(this: AnyTool) {
    return this[TOOL_SPEC].schema;
  },
  enumerable: true,
  configurable: true,
};

/** @throws TOOL_PACKAGE_CONFLICT if another version created the tool */
export function specOf(tool: AnyTool): ToolSpec {
  return specOfCopy(tool);
}

/** @param owner `this` of the method: the tool, a copy of it, or another object */
function specFor(spec: ToolSpec, owner: unknown, options: ToolCallOptions): ToolSpec {
  if (!carriesSpec(owner) || owner[TOOL_SPEC] !== spec) return spec;
  return specOfCopy(owner, options.toolCallId !== undefined && Array.isArray(options.messages));
}

/**
 * A promise of the result that an AI SDK loop may also iterate, to show the values that a generator yields before the
 * result. The last yield is the result.
 */
function withPreliminaryResults<Output>(
  call: (onYield: (item: unknown) => void) => Promise<Output>,
): Promise<Output> {
  const items: unknown[] = [];
  let wake = (): void => undefined;
  const result = call((item) => {
    items.push(item);
    wake();
  });
  const iterate = async function* (): AsyncGenerator<unknown, void> {
    let isOver = false;
    const over = result.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    let last: { readonly item: unknown } | undefined;
    for (;;) {
      while (items.length > 0) {
        last = { item: items.shift() };
        yield last.item;
      }
      if (isOver) break;
      await Promise.race([over, new Promise<void>((resolve) => (wake = resolve))]);
    }
    const output = await result;
    // The result may differ from the last yield, for example in a replay or after a transform.
    if (last === undefined || !isEqual(last.item, output)) yield output;
  };
  return Object.defineProperty(result, Symbol.asyncIterator, { value: iterate });
}

function isEqual(one: unknown, other: unknown): boolean {
  try {
    return encode(one) === encode(other);
  } catch {
    return false;
  }
}

/** Loaded by the first call of any tool. */
const calling = lazyModule(() => import("./call-tool.ts"));
const checking = lazyModule(() => import("./validate-for-ai-sdk.ts"));

/**
 * LangChain tools: `tool()`, `DynamicStructuredTool`, `DynamicTool`, and any other runnable with a schema. They parse their
 * input themselves, so they receive it as it was sent.
 */
import { z } from "zod";
import { ToolwrightError } from "../../errors.ts";
import {
  type ForeignContext,
  type ForeignTool,
  has,
  read,
  readPolicies,
  readText,
  refuseTool,
} from "./foreign-tool.ts";
import { readSchema } from "./foreign-schema.ts";

interface LangChainTool {
  invoke(input: unknown, config: object): unknown;
}

export function isLangChainTool(value: object): value is LangChainTool {
  return Array.isArray(read(value, "lc_namespace")) && has(value, "invoke");
}

export function readLangChainTool(value: LangChainTool, name: string): ForeignTool {
  return {
    run: (args, ctx) => run(value, name, args, ctx),
    ...schemaOf(value, name),
    policies: {
      // LangChain's `returnDirect` means the same: after this call the loop ends.
      ...(read(value, "returnDirect") === true ? { terminal: true } : {}),
      ...readPolicies(value),
    },
    parsesInput: true,
  };
}

async function run(tool: LangChainTool, name: string, args: unknown, ctx: ForeignContext): Promise<unknown> {
  if (typeof args === "object" && args !== null && "type" in args && args.type === "tool_call") {
    throw new ToolwrightError(
      "TOOL_INPUT_INVALID",
      // LangChain would run the nested arguments, which were neither validated nor approved.
      `Tool "${name}" cannot take an argument "type" that is "tool_call": LangChain reads it as another call.`,
      { details: { tool: name }, effect: "none" },
    );
  }
  // A copy, so that a tool which modifies its arguments does not change the stored ones.
  const input = structuredClone(args);
  const loop = ctx.runnableConfig as LoopConfig | undefined;
  if (loop?.toolCall === undefined) return plainOutput(await tool.invoke(input, configOf(ctx)));
  // In a LangChain loop the whole message is the output: content, artifact and status.
  const call = { ...loop.toolCall, name, args: input, type: "tool_call" };
  return ownFailure(await tool.invoke(call, configOf(ctx)));
}

/** A tool message with an error status is a failure. */
function ownFailure(output: unknown): unknown {
  const isFailure = isToolMessage(output) && readText(output, "status") === "error";
  return isFailure ? plainOutput(output) : output;
}

/** The configuration of the enclosing loop, if any. The call itself is passed as the input. */
function configOf({ signal, toolCallId, runnableConfig }: ForeignContext): object {
  const { toolCall: _call, runId: _id, runName: _name, ...config } = { ...(runnableConfig as LoopConfig) };
  return { ...config, signal, ...(toolCallId === undefined ? {} : { toolCallId }) };
}

interface LoopConfig {
  readonly toolCall?: object;
  readonly runId?: unknown;
  readonly runName?: unknown;
}

/** A tool may return a whole message. Its content is the output. */
function plainOutput(output: unknown): unknown {
  if (!isToolMessage(output)) return output;
  const content = read(output, "content");
  if (readText(output, "status") !== "error") return content;
  throw new Error(typeof content === "string" ? content : JSON.stringify(content));
}

function isToolMessage(output: unknown): output is object {
  if (typeof output !== "object" || output === null || !("lc_direct_tool_output" in output)) return false;
  return readText(output, "type") === "tool";
}

function schemaOf(value: LangChainTool, name: string): Pick<ForeignTool, "schema" | "jsonSchema"> {
  const found = read(value, "schema");
  if (isTextSchema(found)) {
    return { schema: z.object({ input: z.string().optional() }), jsonSchema: undefined };
  }
  if (typeof found === "object" && found !== null && "_def" in found && !("_zod" in found)) {
    refuseTool(name, "its schema is Zod 3. Give it a Zod 4 schema, or a JSON Schema.", { field: "schema" });
  }
  return readSchema(found, name);
}

interface Zod3 {
  readonly _def?: { readonly typeName?: string; readonly schema?: Zod3; readonly innerType?: Zod3 };
  readonly shape?: Readonly<Record<string, Zod3>>;
}

/** The Zod 3 schema of every LangChain tool that takes a string. */
function isTextSchema(found: unknown): boolean {
  const schema = (found as Zod3 | undefined)?._def?.schema;
  const { input, ...others } = schema?.shape ?? {};
  return (
    input?._def?.typeName === "ZodOptional" &&
    input._def.innerType?._def?.typeName === "ZodString" &&
    Object.keys(others).length === 0
  );
}

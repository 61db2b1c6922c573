/**
 * LangChain's tools: `tool()`, `DynamicStructuredTool`, `DynamicTool`, and whatever else is a runnable with a schema. They
 * parse their input themselves, so they are handed what was sent.
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
      // In both words: after this call the loop is over.
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
      // LangChain would run the arguments inside, which nobody has validated or approved.
      `Tool "${name}" cannot take an argument "type" that is "tool_call": LangChain reads it as another call.`,
      { details: { tool: name }, effect: "none" },
    );
  }
  // A copy: what is stored must not change if the tool changes its arguments.
  const input = structuredClone(args);
  const loop = ctx.runnableConfig as LoopConfig | undefined;
  if (loop?.toolCall === undefined) return plainOutput(await tool.invoke(input, configOf(ctx)));
  // In a loop of LangChain the whole message is the output: content, artifact and status.
  const call = { ...loop.toolCall, name, args: input, type: "tool_call" };
  return ownFailure(await tool.invoke(call, configOf(ctx)));
}

/** A tool that says itself that it failed has not answered. */
function ownFailure(output: unknown): unknown {
  const isFailure = isToolMessage(output) && readText(output, "status") === "error";
  return isFailure ? plainOutput(output) : output;
}

/** The configuration of the loop around it, where there is one. The call itself is passed as the input. */
function configOf({ signal, toolCallId, runnableConfig }: ForeignContext): object {
  const { toolCall: _call, runId: _id, runName: _name, ...config } = { ...(runnableConfig as LoopConfig) };
  return { ...config, signal, ...(toolCallId === undefined ? {} : { toolCallId }) };
}

interface LoopConfig {
  readonly toolCall?: object;
  readonly runId?: unknown;
  readonly runName?: unknown;
}

/** A tool may answer with a whole message. What it says is the output. */
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

/** The one schema, in Zod 3, of every tool of LangChain's that takes a text. */
function isTextSchema(found: unknown): boolean {
  const schema = (found as Zod3 | undefined)?._def?.schema;
  const { input, ...others } = schema?.shape ?? {};
  return (
    input?._def?.typeName === "ZodOptional" &&
    input._def.innerType?._def?.typeName === "ZodString" &&
    Object.keys(others).length === 0
  );
}

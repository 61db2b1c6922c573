/** A definition that can be called: by a program, by a runtime, and, as it stands, by an AI SDK loop. */
import type { z } from "zod";
import type { SdkSchema } from "../definition/sdk-schema.ts";
import type { ToolMetadata } from "../definition/metadata.ts";
import type { TOOL_METADATA } from "../definition/metadata.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";

/** What an AI SDK loop passes beside the input, and what a caller may. Anything else in the object goes to `ctx`. */
export interface ToolCallOptions {
  readonly toolCallId?: string | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly messages?: readonly unknown[] | undefined;
}

/** In the options of a call: the name by which the model knows the tool. */
export const MODEL_NAME = Symbol.for("toolwright.tool.model-name");

/** What the AI SDK sends to the model for a result. */
export type ModelOutput = JsonOutput | { type: "content"; value: ModelContent[] };
export type JsonOutput = { type: "text"; value: string } | { type: "json"; value: JsonValue };
/** A part of a result that holds images or other media. */
export type ModelContent =
  | { type: "text"; text: string }
  | {
      type: "file";
      mediaType: string;
      data: { type: "data"; data: string } | { type: "url"; url: URL };
      filename?: string;
    };
export type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

export const TOOL_SPEC = Symbol.for("toolwright.tool.spec");

/** What every tool is, whatever it takes and returns. */
export interface AnyTool {
  readonly name: string;
  readonly description: string;
  /** The Zod schema of the input. */
  readonly schema: z.ZodType;
  readonly group: string | undefined;
  readonly terminal: boolean | { readonly status: string };
  readonly [TOOL_METADATA]: ToolMetadata;
  readonly [TOOL_SPEC]: ToolSpec;
}

export interface Tool<Args = unknown, Output = unknown> extends AnyTool {
  readonly inputSchema: SdkSchema<Args>;
  readonly outputSchema?: SdkSchema<Output>;
  /** Returns the plain output. @throws ToolwrightError */
  execute(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  invoke(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  call(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  run(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  func(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  needsApproval?: (args: Args, options: ToolCallOptions) => Promise<boolean>;
  toModelOutput(options: { toolCallId: string; input: unknown; output: unknown }): ModelOutput;
}

export function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && TOOL_SPEC in value;
}

const TOOL_ORIGIN = Symbol.for("toolwright.tool.origin");

/** What a tool of ours became for another maker's loop remembers the tool, so that the way back gives the same tool. */
export function withOrigin<T extends object>(value: T, tool: Tool): T {
  return Object.defineProperty(value, TOOL_ORIGIN, { value: tool, configurable: true });
}

export function originOf(value: object): Tool | undefined {
  return (value as { readonly [TOOL_ORIGIN]?: Tool })[TOOL_ORIGIN];
}

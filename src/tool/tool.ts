/** The types of a tool object: programs, runtimes and AI SDK loops can call it directly. */
import type { z } from "zod";
import { policyNames } from "../definition/check-tool-options.ts";
import type { SdkSchema } from "../definition/sdk-schema.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import type { JsonValue } from "../util/shown-value.ts";

/** The options that an AI SDK loop or a caller passes besides the input. All other fields are added to `ctx`. */
export interface ToolCallOptions {
  readonly toolCallId?: string | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly messages?: readonly unknown[] | undefined;
}

/** The metadata symbol of a tool, under the name that existing code expects. */
export const TOOL_METADATA = Symbol.for("smithers.tool.metadata");

export interface ToolMetadata {
  readonly name: string;
  readonly sideEffect: boolean;
  readonly idempotent: boolean;
}

/** Reads the metadata of a defined tool; `null` for plain AI SDK tools and for other values. */
export function getDefinedToolMetadata(value: unknown): ToolMetadata | null {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return null;
  const metadata: unknown = (value as Record<symbol, unknown>)[TOOL_METADATA];
  return isMetadata(metadata) ? metadata : null;
}

function isMetadata(value: unknown): value is ToolMetadata {
  return (
    typeof value === "object" &&
    value !== null &&
    "name" in value &&
    typeof value.name === "string" &&
    "sideEffect" in value &&
    typeof value.sideEffect === "boolean" &&
    "idempotent" in value &&
    typeof value.idempotent === "boolean"
  );
}

/** In the options of a call: the name by which the model knows the tool. */
export const MODEL_NAME = Symbol.for("toolwright.tool.model-name");

/** What the AI SDK sends to the model for a result. */
export type ModelOutput = JsonOutput | { type: "content"; value: ModelContent[] };
export type JsonOutput = { type: "text"; value: string } | { type: "json"; value: JsonValue };
/** A part of a result with images or other media. */
export type ModelContent =
  | { type: "text"; text: string }
  | {
      type: "file";
      mediaType: string;
      data: { type: "data"; data: string } | { type: "url"; url: URL };
      filename?: string;
    };

export const TOOL_SPEC = Symbol.for("toolwright.tool.spec");

declare const TOOL_TYPES: unique symbol;

/** Types only, no value: inferring from a tool's methods would also match foreign tools. */
interface TypesOf<Args, Output> {
  readonly [TOOL_TYPES]?: { readonly args: Args; readonly output: Output };
}

/** The types of a tool that matter to a caller. */
export type TypedTool<Args, Output> = AnyTool & TypesOf<Args, Output>;

/** The base of every tool, independent of its arguments and output. */
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

export interface Tool<Args = unknown, Output = unknown> extends AnyTool, TypesOf<Args, Output> {
  readonly inputSchema: SdkSchema<Args>;
  readonly outputSchema?: SdkSchema<Output>;
  /** Returns the plain output. @throws ToolwrightError */
  execute(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  invoke(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  call(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  run(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  func(args: Args, options?: ToolCallOptions | object): Promise<Output>;
  // A method and not a function property, so that a tool with any arguments is assignable to `Tool`.
  needsApproval?(args: Args, options: ToolCallOptions): Promise<boolean>;
  toModelOutput(options: {
    toolCallId: string;
    input: unknown;
    output: unknown;
  }): ModelOutput | PromiseLike<ModelOutput>;
}

const TOOL_ORIGIN = Symbol.for("toolwright.tool.origin");

/** The fields that decide how an object of a foreign loop behaves. */
const ORIGIN_FIELDS = [
  "name",
  "description",
  "schema",
  "parameters",
  "inputSchema",
  "outputSchema",
  "execute",
  "invoke",
  "call",
  "run",
  "func",
  "isEnabled",
  "inputGuardrails",
  "outputGuardrails",
  ...policyNames,
];

interface Origin {
  readonly tool: () => Tool;
  readonly fields: readonly unknown[];
}

/** Links a converted object for a foreign loop to its tool, so that converting it back returns the same tool. */
export function withOrigin<T extends object>(value: T, tool: Tool | (() => Tool)): T {
  const origin: Origin = {
    tool: typeof tool === "function" ? tool : () => tool,
    fields: originFields(value),
  };
  return Object.defineProperty(value, TOOL_ORIGIN, { value: origin, configurable: true });
}

/** Also `undefined` if the object was modified since: then it counts as a foreign tool. */
export function originOf(value: object): Tool | undefined {
  const origin = (value as { readonly [TOOL_ORIGIN]?: Origin })[TOOL_ORIGIN];
  if (origin === undefined) return undefined;
  const fields = originFields(value);
  return origin.fields.every((field, index) => field === fields[index]) ? origin.tool() : undefined;
}

function originFields(value: object): unknown[] {
  return ORIGIN_FIELDS.map((name) => (value as Record<string, unknown>)[name]);
}

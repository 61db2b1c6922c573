/** The common form of foreign tools, and helpers to read them. */
import { policyNames } from "../../definition/check-tool-options.ts";
import type { ToolPolicies } from "../../definition/tool-options.ts";
import type { SdkParts } from "../../definition/tool-spec.ts";
import { ToolwrightError } from "../../errors.ts";
import type { ForeignSchema } from "./foreign-schema.ts";

export type AnyPolicies = ToolPolicies<never, never, never>;

export interface ForeignTool extends ForeignSchema {
  readonly run: (args: unknown, ctx: ForeignContext) => unknown;
  /** Its policies, as our options. */
  readonly policies: AnyPolicies;
  /** Whether it parses its input itself. */
  readonly parsesInput: boolean;
  /** Whether its function yields preliminary results. */
  readonly yields?: boolean;
  /** Further fields that the AI SDK reads. */
  readonly sdk?: SdkParts;
}

/** The part of our context that foreign tools can use. The last fields are set if the tool's own loop makes the call. */
export interface ForeignContext {
  readonly signal: AbortSignal;
  readonly toolCallId?: string | undefined;
  readonly messages?: unknown;
  readonly context?: unknown;
  readonly experimental_sandbox?: unknown;
  readonly runContext?: unknown;
  readonly runnableConfig?: unknown;
}

export function read(value: object, name: string): unknown {
  return (value as Record<string, unknown>)[name];
}

export function readText(value: object, name: string): string | undefined {
  const text = read(value, name);
  return typeof text === "string" ? text : undefined;
}

export function has(value: object, ...methods: string[]): boolean {
  return methods.every((name) => typeof read(value, name) === "function");
}

export function readPolicies(value: object): AnyPolicies {
  return Object.fromEntries(
    policyNames.filter((name) => read(value, name) !== undefined).map((name) => [name, read(value, name)]),
  );
}

export function refuseTool(tool: string, message: string, details: object = {}, cause?: unknown): never {
  throw new ToolwrightError("TOOL_DEFINITION_INVALID", `Tool "${tool}": ${message}`, {
    details: { tool, ...details },
    cause,
  });
}

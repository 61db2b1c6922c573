/** What a tool of ours became for another maker's loop remembers it, so that there and back is the same tool. */
import type { Tool } from "./tool.ts";

const TOOL_ORIGIN = Symbol.for("toolwright.tool.origin");

export function withOrigin<T extends object>(value: T, tool: Tool): T {
  return Object.defineProperty(value, TOOL_ORIGIN, { value: tool, configurable: true });
}

export function originOf(value: object): Tool | undefined {
  return (value as { readonly [TOOL_ORIGIN]?: Tool })[TOOL_ORIGIN];
}

/** The names of the built-in tools of an agent. */
import type { SmartAgentOptions } from "../options.ts";

export const TODO_LIST = "manage_todo_list";
export const TOOL_RESPONSE = "get_tool_response";
export const RESPONSE = "response";

/** In the order in which they are offered. */
export function ownNames({ planning, outputSchema }: SmartAgentOptions): string[] {
  return [
    ...(planning?.mode === "off" ? [] : [TODO_LIST]),
    TOOL_RESPONSE,
    ...(outputSchema === undefined ? [] : [RESPONSE]),
  ];
}

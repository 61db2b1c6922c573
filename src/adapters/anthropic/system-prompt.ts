/** The system prompt of a loop: what its caller says, and the inventory of the project's tools. */
import type { MessageCreateParamsBase } from "@anthropic-ai/sdk/resources/messages";
import { withCapabilities } from "../../runtime/capabilities-file.ts";

type System = MessageCreateParamsBase["system"];

export function withInventory(system: System, part: string): System {
  if (system === undefined || typeof system === "string") return withCapabilities(system, part);
  return part === "" ? system : [...system, { type: "text", text: part }];
}

/** The system prompt of a loop: what its caller says, and the inventory of the project's tools. */
import type { MessageCreateParamsBase } from "@anthropic-ai/sdk/resources/messages";
import type { Host } from "../../invoke/host.ts";
import { recordedResponsesOf } from "../../invoke/recorded-responses.ts";
import type { Scope } from "../../invoke/scope.ts";
import { describeCapabilities, withCapabilities } from "../../runtime/capabilities-file.ts";

type System = MessageCreateParamsBase["system"];

export async function systemPrompt(system: System, host: Host, rootDir: string): Promise<System> {
  return addTo(system, await capabilitiesOf(host, rootDir));
}

/** The same inside a scope, where the inventory that the loop began with is kept at this place: it may be another by now. */
export async function keptSystemPrompt(
  system: System,
  scope: Scope,
  rootDir: string,
  place: number,
): Promise<System> {
  const slot = await recordedResponsesOf(scope, () => undefined, place).next("capabilities");
  const part = slot.recorded?.value ?? (await slot.save(await capabilitiesOf(scope.host, rootDir)));
  return addTo(system, String(part));
}

function capabilitiesOf(host: Host, rootDir: string): Promise<string> {
  return describeCapabilities(rootDir, (message) => host.warnOnce("capabilities", message));
}

function addTo(system: System, part: string): System {
  if (system === undefined || typeof system === "string") return withCapabilities(system, part);
  return part === "" ? system : [...system, { type: "text", text: part }];
}

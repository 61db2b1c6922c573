/** The inventory as a loop is told it: read when it begins, and the same whenever it is driven again. */
import type { Host } from "../invoke/host.ts";
import { recordedResponsesOf } from "./recorded-responses.ts";
import type { Scope } from "../invoke/scope.ts";
import { describeCapabilities } from "../runtime/capabilities-file.ts";

export function capabilitiesOf(host: Host, rootDir: string): Promise<string> {
  return describeCapabilities(rootDir, (message) => host.warnOnce("capabilities", message));
}

/** Inside a scope: what the loop began with is kept at this place, since it may be another by now. */
export async function keptCapabilities(scope: Scope, rootDir: string, place: number): Promise<string> {
  const slot = await recordedResponsesOf(scope, () => undefined, place).next("capabilities");
  return String(slot.recorded?.value ?? (await slot.save(await capabilitiesOf(scope.host, rootDir))));
}

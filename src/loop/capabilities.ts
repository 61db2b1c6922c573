/** The inventory of tools in the prompt of a loop: read when the loop starts, and the same when it resumes. */
import type { Host } from "../invoke/host.ts";
import { recordedResponsesOf } from "./recorded-responses.ts";
import type { Scope } from "../invoke/scope.ts";
import { describeCapabilities } from "../runtime/capabilities-file.ts";

export function capabilitiesOf(host: Host, rootDir: string): Promise<string> {
  return describeCapabilities(rootDir, (message) => host.warnOnce("capabilities", message));
}

/** For a loop inside a scope: the file may have changed by the time of a resume, so the text is stored at this position. */
export async function recordedCapabilities(scope: Scope, rootDir: string, position: number): Promise<string> {
  const slot = await recordedResponsesOf(scope, () => undefined, position).next("capabilities");
  return String(slot.recorded?.value ?? (await slot.save(await capabilitiesOf(scope.host, rootDir))));
}

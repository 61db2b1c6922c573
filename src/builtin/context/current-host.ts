/** The runtime of the current call. Context items are in its store, next to the calls that write them. */
import { ToolwrightError } from "../../errors.ts";
import { currentAmbient } from "../../invoke/ambient.ts";
import type { Host } from "../../invoke/host.ts";

/** @throws TOOL_RUNTIME_REQUIRED */
export function currentHost(): Host {
  const ambient = currentAmbient();
  if (ambient !== undefined && !ambient.scope.isDetached) return ambient.scope.host;
  throw new ToolwrightError(
    "TOOL_RUNTIME_REQUIRED",
    "Context items are stored by a runtime, and this call runs outside of one.",
    { effect: "none" },
  );
}

/** The runtime around the call that runs now: context items are in its store, beside the calls that write them. */
import { ToolwrightError } from "../../errors.ts";
import { currentAmbient } from "../../invoke/ambient.ts";
import type { Host } from "../../invoke/host.ts";

/** @throws TOOL_RUNTIME_REQUIRED */
export function currentHost(): Host {
  const ambient = currentAmbient();
  if (ambient !== undefined && !ambient.scope.isDetached) return ambient.scope.host;
  throw new ToolwrightError(
    "TOOL_RUNTIME_REQUIRED",
    "Context items are kept in the store of a runtime, and this call is outside any.",
    { effect: "none" },
  );
}

/** The external effect of a call, over all its tries. */
import type { Call } from "../call.ts";
import type { Result } from "../outcome.ts";

/** `null` if the effect is in doubt. */
export function effectOf(call: Call, result: Result): "none" | "happened" | null {
  // Without `execute` there is no effect, unless an earlier try of the same call had one.
  if (!call.executed) return call.mayHaveHappened ? null : "none";
  switch (result.kind) {
    case "success":
      return "happened";
    case "error":
      if (result.error.effect === "happened") return "happened";
      return call.noEffectSoFar && result.error.effect === "none" ? "none" : null;
    case "interrupted":
      // Interrupted between two tries: all of them have reported their effect.
      return !call.interruptedInExecute && call.noEffectSoFar ? "none" : null;
    default:
      return null;
  }
}

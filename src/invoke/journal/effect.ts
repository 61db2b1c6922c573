/** What a result says about the world outside, all tries together. */
import type { Call } from "../call.ts";
import type { Result } from "../outcome.ts";

/** `null` where nobody can tell. */
export function effectOf(call: Call, result: Result): "none" | "happened" | null {
  // What was never entered has not happened, unless an earlier try of the same call did it.
  if (!call.executed) return call.mayHaveHappened ? null : "none";
  switch (result.kind) {
    case "success":
      return "happened";
    case "error":
      if (result.error.effect === "happened") return "happened";
      return call.harmless && result.error.effect === "none" ? "none" : null;
    case "cut":
      // Cut off between two tries: then all of them have said what they did.
      return !call.cutInside && call.harmless ? "none" : null;
    default:
      return null;
  }
}

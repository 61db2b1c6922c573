/** What the model is told with a result that was not made now. */
import type { Call } from "../call.ts";

export function replayNote(call: Call, attempt: number): string {
  return `Done in attempt ${attempt}, not done now. To do it once more, call ${call.spec.name} once more.`;
}

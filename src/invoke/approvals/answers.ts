/** The answers that a request can be given, each with what it does and the words of the command that gives it. */
import type { Approval } from "../approval.ts";
import { RESOLUTION_LABELS } from "./decision.ts";

export interface PossibleAnswer {
  readonly label: string;
  /** What follows `toolwright` on a command line. */
  readonly words: readonly string[];
}

/** Stands where only a person knows what belongs there. It is not JSON: pasted as it is, it is refused. */
const OUTPUT = "<output as JSON>";

export function answersTo({ id, kind, outputSchema }: Approval): readonly PossibleAnswer[] {
  if (kind !== "replay") {
    return [
      { label: "Approve it", words: ["approve", id] },
      { label: "Deny it", words: ["deny", id] },
    ];
  }
  const happened = ["approve", id, "--happened", ...(outputSchema === undefined ? [] : [OUTPUT])];
  return [
    { label: RESOLUTION_LABELS.happened, words: happened },
    { label: RESOLUTION_LABELS["run-again"], words: ["approve", id, "--run-again"] },
    { label: RESOLUTION_LABELS["give-up"], words: ["deny", id, "--give-up"] },
  ];
}

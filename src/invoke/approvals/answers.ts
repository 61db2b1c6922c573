/** The possible answers to a request, each with a label and its command. */
import type { Approval } from "../approval.ts";
import { RESOLUTION_LABELS } from "./decision.ts";

export interface PossibleAnswer {
  readonly label: string;
  /** The arguments of the `toolwright` command. */
  readonly words: readonly string[];
}

/** A placeholder that the approver must replace. It is not JSON, so the command refuses it as it is. */
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

/** Notes for the model alongside a result. They are stored, so they must not contain redacted values. */
import { KEY_VERSION } from "../definition/call-key.ts";
import type { Call } from "./call.ts";
import { argumentsHash, executedHash } from "./call-identity.ts";
import { modelNameOf } from "./model-names.ts";

const LONGEST_ARGUMENTS = 1_000;

export function addNote(call: Call, text: string): void {
  if (call.note?.includes(text) === true) return;
  call.note = call.note === undefined ? text : `${call.note} ${text}`;
}

/** The note on a result of an earlier attempt. */
export function replayNote(call: Call, attempt: number): string {
  const done = `Done in attempt ${attempt}, not done now.`;
  // A business key allows only one effect.
  if (call.spec.idempotencyKey !== undefined) return done;
  return `${done} To do it once more, call ${modelNameOf(call) ?? call.spec.name} once more.`;
}

/** The note on a call with edited arguments. @param inputJson the stored input, redacted */
export function editNote(inputJson: string | null): string {
  const shown = inputJson ?? "";
  const cut =
    shown.length <= LONGEST_ARGUMENTS ? shown : `${shown.slice(0, LONGEST_ARGUMENTS).toWellFormed()}…`;
  return `The approver edited the arguments of this call: ${cut} instead of those you sent.`;
}

/** Whether the effective arguments differ from the arguments that were sent. */
export function isEdited(call: Call): boolean {
  return (
    call.editedArgsJson !== null &&
    executedHash(call, call.scope.keyVersion ?? KEY_VERSION) !== argumentsHash(call)
  );
}

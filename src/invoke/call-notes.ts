/** What a model should know about a result beyond the result itself. Notes are stored: nothing redacted may stand in one. */
import { KEY_VERSION } from "../definition/call-key.ts";
import { type Call, argumentsHash, executedHash } from "./call.ts";
import { modelNameOf } from "./model-names.ts";

const LONGEST_ARGUMENTS = 1_000;

export function addNote(call: Call, text: string): void {
  if (call.note?.includes(text) === true) return;
  call.note = call.note === undefined ? text : `${call.note} ${text}`;
}

/** For a result of an earlier attempt. */
export function replayNote(call: Call, attempt: number): string {
  const done = `Done in attempt ${attempt}, not done now.`;
  // A business key allows one effect, however often the tool is called.
  if (call.spec.idempotencyKey !== undefined) return done;
  return `${done} To do it once more, call ${modelNameOf(call) ?? call.spec.name} once more.`;
}

/** For a call that ran with other arguments than the model sent. @param inputJson as it is stored, redacted */
export function editNote(inputJson: string | null): string {
  const shown = inputJson ?? "";
  const cut =
    shown.length <= LONGEST_ARGUMENTS ? shown : `${shown.slice(0, LONGEST_ARGUMENTS).toWellFormed()}…`;
  return `A person edited the arguments before approving this call. It ran with ${cut} instead of the arguments you sent.`;
}

/** Whether what runs differs from what was sent. */
export function isEdited(call: Call): boolean {
  return (
    call.editedArgsJson !== null &&
    executedHash(call, call.scope.keyVersion ?? KEY_VERSION) !== argumentsHash(call)
  );
}

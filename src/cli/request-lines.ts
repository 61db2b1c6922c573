/** A request for its approver: the prompt, the arguments, and the command that shows all of it. */
import type { Approval } from "../invoke/approval.ts";
import { nextCommand } from "./command-name.ts";
import { toShortText } from "../terminal/readable.ts";

const LONGEST = 200;

export function questionLines({ prompt, args, kind, runId, status }: Approval, store: string): string[] {
  // A task has no arguments.
  const hasArgs = kind !== "task" && args !== undefined && args !== null;
  // An approver must be able to see everything that the request contains.
  const isCut = isLong(prompt) || (hasArgs && isLong(args));
  return [
    toShortText(prompt, LONGEST),
    ...(hasArgs ? [toShortText(args, LONGEST)] : []),
    ...(isCut && status === "pending"
      ? [`All of it: ${nextCommand(store, "approvals", ["--run", runId], ["--json"])}`]
      : []),
  ];
}

function isLong(value: unknown): boolean {
  return toShortText(value, LONGEST) !== toShortText(value, Infinity);
}

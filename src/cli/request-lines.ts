/** What a request asks, for the person who decides: the question, the arguments, and where all of it is. */
import type { Approval } from "../invoke/approval.ts";
import { nextCommand } from "./command-name.ts";
import { toShortText } from "../util/readable.ts";

const LONGEST = 200;

export function questionLines({ prompt, args, kind, runId, status }: Approval, store: string): string[] {
  // A task has no arguments.
  const hasArgs = kind !== "task" && args !== undefined && args !== null;
  // Nobody should approve what they have not seen.
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

/** An operator's next steps, as data. Each interface renders them: as command lines, links or buttons. */
import type { Approval } from "../invoke/approval.ts";
import { answersTo } from "../invoke/approvals/answers.ts";

/** An option of a command, with its value if it takes one. */
export type CommandFlag = readonly [name: string] | readonly [name: string, value: string];

export interface NextStep {
  /** The name of the command that does it. */
  readonly action: string;
  /** A description, if the command is not self-explanatory. */
  readonly label?: string | undefined;
  readonly operands: readonly string[];
  readonly flags: readonly CommandFlag[];
}

export function nextStep(
  action: string,
  operands: string | readonly string[] = [],
  ...flags: readonly CommandFlag[]
): NextStep {
  return { action, operands: typeof operands === "string" ? [operands] : operands, flags };
}

/** The answers to a request. @param options.resume whether each step also resumes the run; then each has a label */
export function answerSteps(
  request: Approval,
  { resume = false }: { readonly resume?: boolean } = {},
): NextStep[] {
  const isReplay = request.kind === "replay";
  return answersTo(request).map(({ label, words: [action = "", id = "", flag, value] }) => ({
    ...(isReplay ? { label } : resume ? { label: `${label}, and resume` } : {}),
    action,
    operands: [id],
    flags: [
      ...(flag === undefined ? [] : [value === undefined ? ([flag] as const) : ([flag, value] as const)]),
      ...(resume ? [["--resume"] as const] : []),
    ],
  }));
}

/** The commands that decide a request, as they can be typed. */
import type { Approval } from "../invoke/approval.ts";
import { answersTo } from "../invoke/approvals/answers.ts";
import { typedCommand } from "./command-name.ts";

export interface NextStep {
  /** What it does, where the command alone does not say it. */
  readonly label?: string | undefined;
  readonly command: string;
}

/** @param options.resume whether the commands resume the run as well; then each has a label */
export function answerSteps(
  store: string,
  request: Approval,
  { resume = false }: { readonly resume?: boolean } = {},
): NextStep[] {
  const isReplay = request.kind === "replay";
  return answersTo(request).map(({ label, words }) => ({
    ...(isReplay ? { label } : resume ? { label: `${label}, and resume` } : {}),
    command: typedCommand(store, resume ? [...words, "--resume"] : words),
  }));
}

/** Each command on a line of its own, so that it can be copied; what it does stands above it. */
export function stepLines(steps: readonly NextStep[], indent = "  "): string[] {
  return steps.flatMap(({ label, command }) =>
    label === undefined ? [`${indent}${command}`] : [`${indent}${label}:`, `${indent}  ${command}`],
  );
}

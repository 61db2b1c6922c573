/** Next steps as command lines that can be pasted. */
import { toTypedStep } from "../operate/commands.ts";
import type { NextStep } from "../operate/next-step.ts";
import type { RunStep } from "../runtime/runs.ts";
import { nextCommand, syntaxFor } from "./command-name.ts";

export interface TypedStep {
  readonly label?: string | undefined;
  readonly command: string;
}

export function toTypedSteps(store: string, steps: readonly NextStep[]): TypedStep[] {
  return steps.map(({ label, action, operands, flags }) => ({
    ...(label === undefined ? {} : { label }),
    command: nextCommand(store, action, ...operands, ...flags),
  }));
}

/** For programs: each step has a label, even one whose command says what it does. */
export function toLabelledSteps(store: string, steps: readonly NextStep[]): RunStep[] {
  return steps.map((step) => toTypedStep(syntaxFor(store), step));
}

/** Each command is on its own line, ready to copy. Its label is on the line above. */
export function stepLines(steps: readonly TypedStep[], indent = "  "): string[] {
  return steps.flatMap(({ label, command }) =>
    label === undefined ? [`${indent}${command}`] : [`${indent}${label}:`, `${indent}  ${command}`],
  );
}

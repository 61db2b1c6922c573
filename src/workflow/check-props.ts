/**
 * What stands in a tree, as it was written. Workflow files are run without a look at their types, so a slip such as
 * `outputs.reslt` or `needsApproval="yes"` has to be noticed here: it would leave an output unchecked, or a task ungated.
 */
import { distance } from "../definition/option-checks.ts";
import { isStorableText, isTooLongForId, LONGEST_ID_BYTES } from "../util/storable-text.ts";
import type { LoopProps, ParallelProps, TaskProps } from "./components.ts";
import { workflowError } from "./workflow-error.ts";

const TASK_PROPS: Readonly<Record<keyof TaskProps, true>> = {
  id: true,
  output: true,
  agent: true,
  tools: true,
  model: true,
  instructions: true,
  deps: true,
  dependsOn: true,
  skipIf: true,
  retries: true,
  retryPolicy: true,
  timeoutMs: true,
  continueOnFail: true,
  needsApproval: true,
  approvalPrompt: true,
  onDeny: true,
  cache: true,
  children: true,
  asks: true,
  prompt: true,
};
const GROUP_PROPS: Readonly<Record<keyof (LoopProps & ParallelProps), true>> = {
  id: true,
  children: true,
  maxConcurrency: true,
  until: true,
  maxIterations: true,
  onMaxReached: true,
};

const FLAGS = ["skipIf", "needsApproval", "continueOnFail"] as const;

/** @throws WORKFLOW_INVALID */
export function checkTaskProps(props: TaskProps): void {
  const { id } = props;
  if (typeof id !== "string" || id === "") throw workflowError("a <Task>", "has no id.");
  if (!isStorableText(id) || isTooLongForId(id)) {
    throw workflowError(
      `task "${id.slice(0, 40)}…"`,
      `has an id that cannot be stored: at most ${LONGEST_ID_BYTES} bytes, without U+0000 and half surrogate pairs.`,
    );
  }
  const name = `task "${id}"`;
  refuseSlips(props, TASK_PROPS, name);
  for (const flag of FLAGS) isOn(props[flag], name, flag);
  oneOf(props.onDeny, name, "onDeny", ["fail", "continue", "skip"]);
  if ("output" in props && !isOutputToken(props.output)) {
    throw workflowError(
      name,
      `has an output that is none of the workflow's: ${inWords(props.output)}.`,
      "Use outputs.<key>, with a key that createSmithers() was given, or leave output out.",
    );
  }
}

export function checkGroupProps(props: object, name: string): void {
  refuseSlips(props, GROUP_PROPS, name);
}

/** A prop that nobody knows may be the author's own. One that is a known one but for a letter or two is a slip. */
function refuseSlips(props: object, known: Readonly<Record<string, true>>, name: string): void {
  for (const prop of Object.keys(props)) {
    if (Object.hasOwn(known, prop)) continue;
    const meant = Object.keys(known).find(
      (one) => distance(one.toLowerCase(), prop.toLowerCase()) <= Math.min(2, one.length / 4),
    );
    if (meant !== undefined) throw workflowError(name, `has no prop "${prop}".`, `Did you mean ${meant}?`);
  }
}

/** Anything but a yes or a no is more likely a slip than either. */
export function isOn(value: unknown, name: string, prop: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw workflowError(
    name,
    `needs true or false for ${prop}, not ${inWords(value)}.`,
    `Write a comparison, for example ${prop}={value !== undefined}.`,
  );
}

export function oneOf<Choice extends string>(
  value: unknown,
  name: string,
  prop: string,
  choices: readonly Choice[],
): Choice | undefined {
  if (value === undefined) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw workflowError(name, `needs one of ${choices.join(", ")} for ${prop}, not ${inWords(value)}.`);
}

function isOutputToken(value: unknown): boolean {
  return typeof value === "object" && value !== null && "key" in value && "schema" in value;
}

function inWords(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

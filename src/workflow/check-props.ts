/**
 * Validates the props of each component. Workflow files run without type checking, so a typo such as `outputs.reslt`,
 * `needsApproval="yes"` or `<Task approval>` would skip the validation of an output or the approval of a task.
 */
import {
  aBoolean,
  aFullText,
  aFunction,
  anId,
  anInteger,
  anInstance,
  anObject,
  anything,
  aText,
  aToolSource,
  aNumber,
  aNumberIn,
  type Check,
  describe,
  either,
  fields,
  listOf,
  oneOf,
  Problem,
  withMethods,
} from "../definition/option-checks.ts";
import { nearestName } from "../definition/nearest-name.ts";
import { zodSchema } from "../definition/check-tool-options.ts";
import type {
  ApprovalProps,
  BranchProps,
  ComponentKind,
  LoopProps,
  ParallelProps,
  SagaProps,
  SignalProps,
  SleepProps,
  TaskProps,
  WorkflowProps,
} from "./components.ts";
import { DURATION_WORDS, LONGEST_WAIT_MS, parseDuration, toMoment } from "./duration.ts";
import { workflowError } from "./workflow-error.ts";

/** Only `true` counts as true. A value that is not available yet (`undefined`, `null`) counts as false. */
const aCondition: Check = (value, field) => {
  if (value === null || typeof value === "boolean") return;
  throw new Problem(field, `needs true or false for ${field}, not ${describe(value)}.`, true);
};

const anOutput: Check = (value, field) => {
  if (typeof value === "object" && value !== null && "key" in value && "schema" in value) return;
  throw new Problem(field, `has an output that the workflow does not define: ${describe(value)}.`, true);
};

const anAgent: Check = either(
  "an agent with a generate method, or a list of them",
  withMethods("an agent", "generate"),
  listOf(withMethods("an agent", "generate")),
);

const limit: Check = aNumber(1);

type Props<Given> = Readonly<Record<keyof Given & string, Check>>;

/** The others are set by `<Approval>`, `<Sleep>` and `<Signal>` only. */
const TASK: Props<Omit<TaskProps, "asks" | "prompt" | "sleeps" | "awaits">> = {
  id: anId,
  output: anOutput,
  agent: anAgent,
  tools: aToolSource,
  model: either("an AI SDK model or its name", aFullText, anInstance, aFunction),
  instructions: aText,
  deps: anObject,
  dependsOn: listOf(aFullText),
  skipIf: aCondition,
  retries: either("a whole number of at least 0, or Infinity", anInteger(0), aNumber(Infinity)),
  retryPolicy: fields({ backoff: oneOf("fixed", "linear", "exponential"), initialDelayMs: aNumber(0) }),
  timeoutMs: aNumber(1),
  continueOnFail: aCondition,
  needsApproval: aCondition,
  approvalPrompt: aText,
  onDeny: oneOf("fail", "continue", "skip"),
  cache: aBoolean,
  children: anything,
};

const APPROVAL: Props<ApprovalProps> = {
  id: anId,
  prompt: aText,
  request: (value, field) => {
    fields({ title: aFullText, summary: aText })(value, field);
    if ((value as Record<string, unknown>)["title"] === undefined)
      throw new Problem(`${field}.title`, "is missing.");
  },
  onDeny: oneOf("fail", "continue", "skip"),
  output: anOutput,
  dependsOn: listOf(aFullText),
  skipIf: aCondition,
  children: anything,
};

const aDuration: Check = (value, field) => {
  if (parseDuration(value) === undefined)
    throw new Problem(field, `needs ${DURATION_WORDS} for ${field}, not ${describe(value)}.`, true);
};

/** A date that a task has not computed yet is missing for now. */
const aDate: Check = (value, field) => {
  if (value === null || toMoment(value) !== undefined) return;
  throw new Problem(field, `needs a valid Date, or milliseconds since 1970, for ${field}.`, true);
};

const SLEEP: Props<SleepProps> = {
  id: anId,
  for: aDuration,
  until: aDate,
  dependsOn: listOf(aFullText),
  skipIf: aCondition,
};

const SIGNAL: Props<SignalProps> = {
  id: anId,
  name: anId,
  schema: zodSchema,
  output: anOutput,
  timeoutMs: aNumberIn(1, LONGEST_WAIT_MS),
  onTimeout: oneOf("fail", "continue"),
  dependsOn: listOf(aFullText),
  skipIf: aCondition,
};

interface Table {
  readonly checks: Readonly<Record<string, Check>>;
  readonly required: readonly string[];
  /** Names of props in other systems, with the prop to suggest. */
  readonly aliases?: Readonly<Record<string, string>>;
}

const CHILDREN = { children: anything };

export const PROPS: Readonly<Record<ComponentKind, Table>> = {
  workflow: {
    checks: {
      name: aFullText,
      onChange: oneOf("ask", "continue", "pin"),
      ...CHILDREN,
    } satisfies Props<WorkflowProps>,
    required: ["name"],
  },
  task: {
    checks: TASK,
    required: ["id"],
    aliases: {
      approval: "needsApproval",
      approve: "needsApproval",
      requiresApproval: "needsApproval",
      requireApproval: "needsApproval",
      if: "skipIf",
      when: "skipIf",
      retry: "retries",
      maxRetries: "retries",
      maxAttempts: "retries",
      timeout: "timeoutMs",
      schema: "output",
      outputSchema: "output",
      prompt: "children",
    },
  },
  approval: {
    checks: APPROVAL,
    required: ["id"],
    aliases: { title: "request", summary: "request", approvalPrompt: "prompt", if: "skipIf" },
  },
  sleep: {
    checks: SLEEP,
    required: ["id"],
    aliases: { ms: "for", duration: "for", delay: "for", date: "until", at: "until", if: "skipIf" },
  },
  signal: {
    checks: SIGNAL,
    required: ["id", "name"],
    aliases: { timeout: "timeoutMs", payload: "schema", signal: "name", if: "skipIf" },
  },
  sequence: { checks: CHILDREN, required: [] },
  saga: { checks: { id: anId, ...CHILDREN } satisfies Props<SagaProps>, required: [] },
  fragment: { checks: CHILDREN, required: [] },
  parallel: {
    checks: { maxConcurrency: limit, ...CHILDREN } satisfies Props<ParallelProps>,
    required: [],
    aliases: { concurrency: "maxConcurrency", limit: "maxConcurrency" },
  },
  branch: {
    // oxlint-disable-next-line unicorn/no-thenable -- the name of a prop; nothing awaits this table
    checks: { if: aCondition, then: anything, else: anything } satisfies Props<BranchProps>,
    required: ["if"],
    aliases: { condition: "if", when: "if", children: "then" },
  },
  loop: {
    checks: {
      id: anId,
      until: aCondition,
      maxIterations: limit,
      onMaxReached: oneOf("return-last", "fail"),
      ...CHILDREN,
    } satisfies Props<LoopProps>,
    required: ["until"],
    aliases: { while: "until", max: "maxIterations", maxLoops: "maxIterations", times: "maxIterations" },
  },
};

/** @param name of the node in errors @throws WORKFLOW_INVALID */
export function checkProps(
  kind: ComponentKind,
  props: Readonly<Record<string, unknown>>,
  name: string,
): void {
  const { checks, required, aliases = {} } = PROPS[kind];
  for (const prop of required) {
    // A condition may be undefined for now, but the prop itself must be there.
    const isPresent = checks[prop] === aCondition ? Object.hasOwn(props, prop) : props[prop] !== undefined;
    if (!isPresent) throw workflowError(name, `needs the prop "${prop}".`, exampleOf(kind, prop));
  }
  for (const [prop, value] of Object.entries(props)) {
    const check = Object.hasOwn(checks, prop) ? checks[prop] : undefined;
    if (check === undefined) throw unknownProp(name, prop, Object.keys(checks), aliases);
    // `outputs.reslt` is undefined, so an output prop that is present is always checked.
    if (value === undefined && check !== anOutput) continue;
    checkProp(check, value, prop, name);
  }
  if (kind === "sleep" && Object.hasOwn(props, "for") === Object.hasOwn(props, "until")) {
    const both = Object.hasOwn(props, "for") ? "both for and until" : "neither for nor until";
    throw workflowError(name, `has ${both}.`, 'Set one of them: for="2h", or until={date}.');
  }
}

function checkProp(check: Check, value: unknown, prop: string, name: string): void {
  try {
    check(value, prop);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // An unknown field of a nested object is the only message that is not a predicate of the node.
    const isUnknown = error.message.startsWith("unknown option");
    const sentence = error.isWhole
      ? `${isUnknown ? "has an " : ""}${error.message}`
      : `has an invalid prop: ${error.sentence}`;
    throw workflowError(name, sentence, hintFor(check, prop));
  }
}

function unknownProp(
  name: string,
  prop: string,
  names: readonly string[],
  aliases: Readonly<Record<string, string>>,
): Error {
  const near = Object.hasOwn(aliases, prop) ? aliases[prop] : nearestName(prop, names);
  const listed = `Its props are ${names.join(", ")}.`;
  if (near === undefined) return workflowError(name, `has no prop "${prop}".`, listed);
  const instead = near === "children" ? "Write the prompt between the tags." : `Did you mean "${near}"?`;
  return workflowError(name, `has no prop "${prop}". ${instead}`, listed);
}

function exampleOf(kind: ComponentKind, prop: string): string {
  if (kind === "loop")
    return "Set the end condition: until={…}. With until={false}, the loop runs maxIterations times.";
  if (kind === "branch") return "Set the condition: if={…}.";
  return `Write <${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${prop}="…">.`;
}

function hintFor(check: Check, prop: string): string | undefined {
  if (check === aCondition) return `Use a comparison, for example ${prop}={value !== undefined}.`;
  if (check === anOutput)
    return "Use outputs.<key> with a key of the schemas passed to createWorkflows(), or omit output.";
  return undefined;
}

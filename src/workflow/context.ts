/** What a workflow's function sees of its run while it renders: the input, and the outputs on record. */
import type { z } from "zod";
import type { OutputToken, Schemas } from "./output-token.ts";
import type { TaskState, TaskStates } from "./task-state.ts";
import { workflowError } from "./workflow-error.ts";

type InputOf<S extends Schemas> = S extends { readonly input: infer Input extends z.ZodType }
  ? z.output<Input>
  : Readonly<Record<string, unknown>>;

type ValueOf<S extends Schemas, Key extends keyof S> = z.output<S[Key]>;
type Ref<S extends Schemas, Key extends keyof S & string> = OutputToken<Key, S[Key]> | Key;

export interface OutputPlace {
  readonly nodeId: string;
  /** Default: the latest. */
  readonly iteration?: number | undefined;
}

export interface WorkflowContext<S extends Schemas = Schemas> {
  readonly runId: string;
  readonly input: InputOf<S>;
  /** The pass of the loop that is rendered now, from 0. */
  readonly iteration: number;
  /** @throws WORKFLOW_INVALID when the task has no output yet */
  output<Key extends keyof S & string>(output: Ref<S, Key>, place: OutputPlace): ValueOf<S, Key>;
  outputMaybe<Key extends keyof S & string>(
    output: Ref<S, Key>,
    place: OutputPlace,
  ): ValueOf<S, Key> | undefined;
  latest<Key extends keyof S & string>(output: Ref<S, Key>, nodeId: string): ValueOf<S, Key> | undefined;
  /** All rows of an output, as a function of its key and by its key. */
  readonly outputs: (<Key extends keyof S & string>(output: Ref<S, Key>) => ValueOf<S, Key>[]) & {
    readonly [Key in keyof S & string]: ValueOf<S, Key>[];
  };
}

export interface ContextOptions {
  readonly runId: string;
  readonly input: unknown;
  readonly iteration: number;
  readonly states: TaskStates;
  readonly keys: readonly string[];
  /** Filled with what the render depends on: keys of outputs, and keys with the task that stored them. */
  readonly reads: Set<string>;
}

export function createWorkflowContext(options: ContextOptions): WorkflowContext {
  const { runId, input, iteration, states, reads } = options;
  const find = (ref: unknown, place: OutputPlace): TaskState | undefined => {
    const key = keyOf(ref);
    reads.add(`${key} ${place.nodeId}`);
    const rows = states
      .ofNode(place.nodeId)
      .filter((row) => row.status === "finished" && row.outputKey === key);
    return place.iteration === undefined
      ? rows.at(-1)
      : rows.find((row) => row.iteration === place.iteration);
  };
  const rowsOf = (ref: unknown): unknown[] => {
    const key = keyOf(ref);
    reads.add(key);
    return states.ofKey(key).map((state) => toRow(runId, state));
  };
  const outputs = (ref: unknown): unknown[] => rowsOf(ref);
  for (const key of options.keys) {
    // `length` and `name` of a function are fixed, not lost: an output may be called so.
    Object.defineProperty(outputs, key, { enumerable: true, configurable: true, get: () => rowsOf(key) });
  }
  const context = {
    runId,
    input,
    iteration,
    output(ref: unknown, place: OutputPlace) {
      const state = find(ref, place);
      if (state === undefined) {
        const at = place.iteration === undefined ? "" : ` in iteration ${place.iteration}`;
        throw workflowError(
          `task "${place.nodeId}"`,
          `has no output "${keyOf(ref)}"${at} yet.`,
          "Use ctx.outputMaybe where it may be missing.",
        );
      }
      return state.output;
    },
    outputMaybe: (ref: unknown, place: OutputPlace) => find(ref, place)?.output,
    latest: (ref: unknown, nodeId: string) => find(ref, { nodeId })?.output,
    outputs,
  };
  return context as unknown as WorkflowContext;
}

/** The output itself; where it came from can be asked for, and does not get in the way of comparing it. */
export function toRow(runId: string, state: TaskState): unknown {
  const { output, nodeId, iteration } = state;
  if (typeof output !== "object" || output === null) return output;
  const row: object = Array.isArray(output) ? [...(output as unknown[])] : { ...output };
  for (const [name, value] of Object.entries({ runId, nodeId, iteration })) {
    if (!(name in row)) Object.defineProperty(row, name, { value, enumerable: false });
  }
  return row;
}

function keyOf(ref: unknown): string {
  return typeof ref === "object" && ref !== null && "key" in ref ? String(ref.key) : String(ref);
}

/** What a workflow's function sees of its run while it renders: the input, and the outputs on record. */
import type { z } from "zod";
import type { OutputToken, Schemas } from "./output-token.ts";
import type { TaskState, TaskStates } from "./task-state.ts";
import type { LoopPass } from "./walk-plan.ts";
import { workflowError } from "./workflow-error.ts";

type InputOf<S extends Schemas> = S extends { readonly input: infer Input extends z.ZodType }
  ? z.output<Input>
  : Readonly<Record<string, unknown>>;

type ValueOf<S extends Schemas, Key extends keyof S> = z.output<S[Key]>;
type Ref<S extends Schemas, Key extends keyof S & string> = OutputToken<Key, S[Key]> | Key;

export interface OutputPlace {
  readonly nodeId: string;
  /** The pass of the innermost loop around the task, in the current pass of the loops around that one. Default: the latest. */
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
  /** The loops that are rendered now, the outermost first. */
  readonly at: readonly LoopPass[];
  /** Of the tasks of the tree as it was rendered last; none before the first time. */
  readonly loopsAround?: (() => ReadonlyMap<string, readonly number[]>) | undefined;
  readonly states: TaskStates;
  readonly keys: readonly string[];
  /** Filled with what the render depends on: keys of outputs, and keys with the task that stored them. */
  readonly reads: Set<string>;
}

export function createWorkflowContext(options: ContextOptions): WorkflowContext {
  const { runId, input, at, states, reads } = options;
  const find = (ref: unknown, place: OutputPlace): TaskState | undefined => {
    const key = keyOf(ref);
    reads.add(`${key} ${place.nodeId}`);
    const rows = states
      .ofNode(place.nodeId)
      .filter((row) => row.status === "finished" && row.outputKey === key);
    if (place.iteration === undefined) return rows.at(-1);
    return rows.findLast((row) => row.iteration === place.iteration && isInCurrentPass(row, options));
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
    iteration: at.at(-1)?.pass ?? 0,
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

/**
 * Loops that are around both the task and what is rendered now are in one pass: of an inner loop, only the passes of the
 * current outer pass are seen. Seen from outside, the latest pass counts.
 */
function isInCurrentPass({ nodeId, path }: TaskState, { at, loopsAround }: ContextOptions): boolean {
  const around = loopsAround?.().get(nodeId) ?? [];
  const passes = path.split(".");
  // The last one is the pass that is asked for.
  const outer = around.slice(0, passes.length - 1);
  const shared = outer.findIndex((loop, level) => at[level]?.loop !== loop);
  const common = shared < 0 ? outer : outer.slice(0, shared);
  return common.every((_, level) => passes[level] === String(at[level]?.pass));
}

/** The output itself; where it came from can be asked for, and does not get in the way of comparing it. */
export function toRow(runId: string, state: TaskState): unknown {
  const { output, nodeId, iteration, path } = state;
  if (typeof output !== "object" || output === null) return output;
  const row: object = Array.isArray(output) ? [...(output as unknown[])] : { ...output };
  for (const [name, value] of Object.entries({ runId, nodeId, iteration, path: loopPath(path) })) {
    if (!(name in row)) Object.defineProperty(row, name, { value, enumerable: false });
  }
  return row;
}

/** As the log shows it: a task outside any loop is in pass 0. */
function loopPath(path: string): string {
  return path === "" ? "0" : path;
}

function keyOf(ref: unknown): string {
  return typeof ref === "object" && ref !== null && "key" in ref ? String(ref.key) : String(ref);
}

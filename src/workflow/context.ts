/** The context that a workflow function renders with: the input of the run, and the outputs stored so far. */
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
  /**
   * The pass of the innermost loop around the task, in the current pass of the loops around that one. Default: the
   * latest.
   */
  readonly iteration?: number | undefined;
}

export interface WorkflowContext<S extends Schemas = Schemas> {
  readonly runId: string;
  readonly input: InputOf<S>;
  /** The current pass of the innermost loop, from 0. */
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
  /** The loops in progress, the outermost first. */
  readonly loopPasses: readonly LoopPass[];
  /** The loops around each task of the tree that was rendered last; `undefined` before the first render. */
  readonly loopsAround?: (() => ReadonlyMap<string, readonly number[]>) | undefined;
  readonly states: TaskStates;
  readonly keys: readonly string[];
  /** Receives what the render reads: output keys, and output keys with a task id. */
  readonly reads: Set<string>;
}

export function createWorkflowContext(options: ContextOptions): WorkflowContext {
  const { runId, input, loopPasses, states, reads } = options;
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
    // Functions have a `length` and a `name` of their own; an output may have that key too.
    Object.defineProperty(outputs, key, { enumerable: true, configurable: true, get: () => rowsOf(key) });
  }
  const context = {
    runId,
    input,
    iteration: loopPasses.at(-1)?.pass ?? 0,
    output(ref: unknown, place: OutputPlace) {
      const state = find(ref, place);
      if (state === undefined) {
        const where = place.iteration === undefined ? "" : ` in iteration ${place.iteration}`;
        throw workflowError(
          `task "${place.nodeId}"`,
          `has no output "${keyOf(ref)}"${where} yet.`,
          "Use ctx.outputMaybe if the output may be missing.",
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
 * Whether a row belongs to the current pass of the loops that are around both the task and the render. A row of an
 * inner loop from an earlier outer pass is hidden. A reader outside the loops sees the latest pass.
 */
function isInCurrentPass({ nodeId, path }: TaskState, { loopPasses, loopsAround }: ContextOptions): boolean {
  const around = loopsAround?.().get(nodeId) ?? [];
  const passes = path.split(".");
  // The caller compares the innermost pass.
  const outer = around.slice(0, passes.length - 1);
  const firstDifferent = outer.findIndex((loop, level) => loopPasses[level]?.loop !== loop);
  const common = firstDifferent < 0 ? outer : outer.slice(0, firstDifferent);
  return common.every((_, level) => passes[level] === String(loopPasses[level]?.pass));
}

/** The output with its origin in properties that are not enumerable, so that comparisons ignore them. */
export function toRow(runId: string, state: TaskState): unknown {
  const { output, nodeId, iteration, path } = state;
  if (typeof output !== "object" || output === null) return output;
  const row: object = Array.isArray(output) ? [...(output as unknown[])] : { ...output };
  for (const [name, value] of Object.entries({ runId, nodeId, iteration, path: loopPath(path) })) {
    if (!(name in row)) Object.defineProperty(row, name, { value, enumerable: false });
  }
  return row;
}

/** The log shows a task outside any loop as pass 0. */
function loopPath(path: string): string {
  return path === "" ? "0" : path;
}

function keyOf(ref: unknown): string {
  return typeof ref === "object" && ref !== null && "key" in ref ? String(ref.key) : String(ref);
}

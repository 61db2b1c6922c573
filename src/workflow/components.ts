/** The components of a workflow. They are markers: the plan is built from their props, and they are never called. */
import type { z } from "zod";
import { assertSameVersion, MADE_BY, OWN_COPY, type PackageCopy } from "../definition/package-copy.ts";
import type { WorkflowNode } from "./element.ts";
import type { OutputToken } from "./output-token.ts";

interface WithChildren {
  readonly children?: WorkflowNode;
}

/** How a worker treats a run whose workflow has changed since the run started. */
export type OnChange = "ask" | "continue" | "pin";

export interface WorkflowProps extends WithChildren {
  readonly name: string;
  /**
   * How a worker treats a run whose file, or a local import of it, has changed since the run started. `"ask"` (default):
   * leaves it until an operator accepts the changes. `"continue"`: runs the new version. `"pin"`: leaves it to a worker with
   * the same build.
   */
  readonly onChange?: OnChange | undefined;
}

export interface RetryPolicy {
  readonly backoff?: "fixed" | "linear" | "exponential" | undefined;
  readonly initialDelayMs?: number | undefined;
}

/** Anything with `generate`: an AI SDK `ToolLoopAgent` first. */
export interface WorkflowAgent {
  generate(options: never): PromiseLike<unknown>;
}

export interface TaskProps<Schema extends z.ZodType = z.ZodType> {
  readonly id: string;
  readonly output?: OutputToken<string, Schema> | undefined;
  /** One agent, or a list: each retry uses the next one. */
  readonly agent?: WorkflowAgent | readonly WorkflowAgent[] | undefined;
  /** Added to the agent's tools for this task. */
  readonly tools?: Readonly<Record<string, object>> | readonly object[] | undefined;
  /** An AI SDK model, instead of an agent. */
  readonly model?: unknown;
  readonly instructions?: string | undefined;
  /** The tasks whose outputs a function child receives, by id. */
  readonly deps?: Readonly<Record<string, OutputToken>> | undefined;
  readonly dependsOn?: readonly string[] | undefined;
  readonly skipIf?: boolean | undefined;
  /** Further attempts after the first. Default 2. */
  readonly retries?: number | undefined;
  readonly retryPolicy?: RetryPolicy | undefined;
  readonly timeoutMs?: number | undefined;
  readonly continueOnFail?: boolean | undefined;
  /** Whether the task waits for approval before it starts. */
  readonly needsApproval?: boolean | undefined;
  readonly approvalPrompt?: string | undefined;
  readonly onDeny?: "fail" | "continue" | "skip" | undefined;
  /** Reuse the output of an equal task in an earlier run: same id, prompt or value, and dependencies. */
  readonly cache?: boolean | undefined;
  /** A prompt for the agent, a function to compute, or a value. */
  readonly children?: unknown;
  /** @internal set for an `<Approval>`, with its prompt */
  readonly asks?: boolean | undefined;
  /** @internal */
  readonly prompt?: string | undefined;
  /** @internal set for a `<Sleep>` */
  readonly sleeps?: Pick<SleepProps, "for" | "until"> | undefined;
  /** @internal set for a `<Signal>` */
  readonly awaits?: Pick<SignalProps, "name" | "schema" | "timeoutMs" | "onTimeout"> | undefined;
}

type InternalProp = "asks" | "prompt" | "sleeps" | "awaits";

type Prompt = string | number | boolean | null | undefined | readonly Prompt[];
type Outputs<Deps> = {
  readonly [Id in keyof Deps]: Deps[Id] extends OutputToken<string, infer S> ? z.output<S> : never;
};

/**
 * The props of `<Task>`. With an agent or model, the children are a prompt; otherwise they are the output or a
 * function.
 */
export type TypedTaskProps<
  Schema extends z.ZodType = z.ZodType,
  Deps extends Readonly<Record<string, OutputToken>> = Readonly<Record<string, OutputToken>>,
> = Omit<TaskProps<Schema>, "agent" | "model" | "children" | "deps" | InternalProp> & {
  readonly deps?: Deps | undefined;
} & (
    | {
        readonly agent: NonNullable<TaskProps["agent"]>;
        readonly model?: undefined;
        readonly children?: Prompt | ((deps: Outputs<Deps>) => Prompt);
      }
    | {
        readonly agent?: undefined;
        /** An AI SDK model, instead of an agent. */
        readonly model: object | string;
        readonly children?: Prompt | ((deps: Outputs<Deps>) => Prompt);
      }
    | {
        readonly agent?: undefined;
        readonly model?: undefined;
        readonly children?:
          | z.input<Schema>
          | ((deps: Outputs<Deps>) => z.input<Schema> | PromiseLike<z.input<Schema>>);
      }
  );

export interface ApprovalProps {
  readonly id: string;
  /** The question that the approver sees. */
  readonly prompt?: string | undefined;
  /** The question as a title and a summary, as in Smithers. */
  readonly request?: { readonly title: string; readonly summary?: string | undefined } | undefined;
  /** What happens after a denial: the run fails, continues, or skips what depends on it. Default `"fail"`. */
  readonly onDeny?: "fail" | "continue" | "skip" | undefined;
  readonly output?: OutputToken | undefined;
  readonly dependsOn?: readonly string[] | undefined;
  readonly skipIf?: boolean | undefined;
  readonly children?: unknown;
}

/** Either `for` or `until`. */
export interface SleepProps {
  readonly id: string;
  /** A duration such as `"90s"`, `"2h"` or `"1d 12h"`, or a number of milliseconds. */
  readonly for?: string | number | undefined;
  /** A date, or milliseconds since 1970. */
  readonly until?: Date | number | null | undefined;
  readonly dependsOn?: readonly string[] | undefined;
  readonly skipIf?: boolean | undefined;
}

export interface SignalProps<Schema extends z.ZodType = z.ZodType> {
  readonly id: string;
  /** The name under which `runtime.signal` sends it. */
  readonly name: string;
  /** What the payload must be. Default: the schema of `output`, else anything. */
  readonly schema?: z.ZodType | undefined;
  /** Stores the payload as an output of the workflow. */
  readonly output?: OutputToken<string, Schema> | undefined;
  /** How long to wait. Default: without a limit. */
  readonly timeoutMs?: number | undefined;
  /** What happens then: the run fails, or continues without an output. Default `"fail"`. */
  readonly onTimeout?: "fail" | "continue" | undefined;
  readonly dependsOn?: readonly string[] | undefined;
  readonly skipIf?: boolean | undefined;
}

export interface ParallelProps extends WithChildren {
  readonly maxConcurrency?: number | undefined;
}

export interface BranchProps {
  readonly if: boolean;
  readonly then?: WorkflowNode;
  readonly else?: WorkflowNode;
}

export interface LoopProps extends WithChildren {
  readonly id?: string | undefined;
  readonly until: boolean;
  /** Default 100; `Infinity` for no limit. */
  readonly maxIterations?: number | undefined;
  /** Default `"return-last"` where `maxIterations` is set, else `"fail"`. */
  readonly onMaxReached?: "return-last" | "fail" | undefined;
}

export interface SagaProps extends WithChildren {
  /** Identifies the saga if all of its tasks are replaced during a run. */
  readonly id?: string | undefined;
}

const KIND = Symbol.for("toolwright.component");

export type ComponentKind =
  | "workflow"
  | "task"
  | "sequence"
  | "saga"
  | "parallel"
  | "branch"
  | "loop"
  | "approval"
  | "sleep"
  | "signal"
  | "fragment";

/**
 * Reads a registered symbol, since two copies of the package have two `Task` functions with the same meaning.
 * @throws TOOL_PACKAGE_CONFLICT if another version of the package created the component
 */
export function kindOf(component: unknown): ComponentKind | undefined {
  if (typeof component !== "function") return undefined;
  const { [KIND]: kind, [MADE_BY]: copy } = component as { [KIND]?: ComponentKind; [MADE_BY]?: PackageCopy };
  if (kind !== undefined) assertSameVersion(copy, `<${component.name}>`);
  return kind;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it types the result
function component<Props>(kind: ComponentKind, name: string): (props: Props) => WorkflowNode {
  const marker = (_props: Props): WorkflowNode => undefined;
  return Object.defineProperties(marker, {
    [KIND]: { value: kind },
    [MADE_BY]: { value: OWN_COPY },
    name: { value: name },
  });
}

export const Workflow = component<WorkflowProps>("workflow", "Workflow");
export const Task = component<TaskProps>("task", "Task") as <
  Schema extends z.ZodType,
  const Deps extends Readonly<Record<string, OutputToken>>,
>(
  props: TypedTaskProps<Schema, Deps>,
) => WorkflowNode;
export const Sequence = component<WithChildren>("sequence", "Sequence");
/** If a task inside it fails for good, the effects of all tasks inside it are reverted. Then the run fails. */
export const Saga = component<SagaProps>("saga", "Saga");
export const Parallel = component<ParallelProps>("parallel", "Parallel");
export const Branch = component<BranchProps>("branch", "Branch");
export const Loop = component<LoopProps>("loop", "Loop");
/** An alias of `Loop`. */
export const Ralph = Loop;
/** Waits for a decision before the run continues. */
export const Approval = component<ApprovalProps>("approval", "Approval");
/** Waits for a time. The time is stored when the sleep begins, and survives the process. */
export const Sleep = component<SleepProps>("sleep", "Sleep");
/** Waits for a signal that `runtime.signal` sends. */
export const Signal = component<SignalProps>("signal", "Signal");
/** All of them, by the names that workflow files use. */
export const COMPONENTS = {
  Workflow,
  Task,
  Sequence,
  Parallel,
  Branch,
  Loop,
  Ralph,
  Saga,
  Approval,
  Sleep,
  Signal,
};
export type Components = Readonly<typeof COMPONENTS>;
/** Groups elements without adding a node. Created by `<>`. */
export const Fragment = component<WithChildren>("fragment", "Fragment");

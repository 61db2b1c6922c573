/** Turns a rendered tree into a plan: which task follows which. Pure: it reads no state and runs nothing. */
import type { PlanOutline } from "../invoke/events.ts";
import { checkProps } from "./check-props.ts";
import {
  COMPONENTS,
  type ApprovalProps,
  type ComponentKind,
  kindOf,
  type OnChange,
  type SignalProps,
  type SleepProps,
  type TaskProps,
  type WorkflowProps,
} from "./components.ts";
import { isElement } from "./element.ts";
import { workflowError } from "./workflow-error.ts";

export type PlanNode =
  | { readonly kind: "sequence"; readonly children: readonly PlanNode[] }
  /** Runs its children one after the other, as a sequence does. */
  | {
      readonly kind: "saga";
      readonly id: string | undefined;
      readonly children: readonly PlanNode[];
    }
  | { readonly kind: "parallel"; readonly children: readonly PlanNode[]; readonly maxConcurrency: number }
  | {
      readonly kind: "loop";
      /** Its position among the loops of the tree, which distinguishes loops without an id. */
      readonly number: number;
      readonly name: string;
      readonly id: string | undefined;
      readonly body: PlanNode;
      readonly until: boolean;
      readonly maxIterations: number;
      /** The author set no limit, so `maxIterations` is the built-in one. */
      readonly isDefaultLimit: boolean;
      readonly onMaxReached: "return-last" | "fail";
    }
  | { readonly kind: "task"; readonly props: TaskProps };

export interface Plan {
  readonly name: string;
  /** What a worker does with a run whose workflow has changed since it started. */
  readonly onChange: OnChange | undefined;
  readonly root: PlanNode;
  readonly tasks: ReadonlyMap<string, TaskProps>;
}

/** The limit of a loop whose author set none. */
export const DEFAULT_MAX_ITERATIONS = 100;

interface Found {
  readonly tasks: Map<string, TaskProps>;
  loops: number;
}

/** @throws WORKFLOW_INVALID with the name of the node */
export function createPlan(rendered: unknown): Plan {
  if (rendered instanceof Promise) {
    rendered.catch(() => undefined);
    throw workflowError(
      "the function given to workflow()",
      "is async; it must return the tree synchronously.",
    );
  }
  const element = unwrap(rendered);
  if (!isElement(element) || kindOf(element.type) !== "workflow") {
    throw workflowError(
      "the root",
      "must be a <Workflow>; the function passed to workflow() returned something else.",
    );
  }
  checkProps("workflow", element.props, "<Workflow>");
  const { name, onChange, children } = element.props as unknown as WorkflowProps;
  const found: Found = { tasks: new Map(), loops: 0 };
  const root: PlanNode = { kind: "sequence", children: nodesOf(children, found) };
  checkDependencies(root, found.tasks);
  return { name, onChange, root, tasks: found.tasks };
}

/** A function component at the root, or a fragment around one element. */
function unwrap(node: unknown): unknown {
  if (Array.isArray(node) && node.length === 1) return unwrap(node[0]);
  if (!isElement(node)) return node;
  const kind = kindOf(node.type);
  if (kind === "fragment") return unwrap(node.props["children"]);
  return kind === undefined ? unwrap(callComponent(node.type, node.props)) : node;
}

function callComponent(type: (props: never) => unknown, props: object): unknown {
  if (typeof type !== "function") throw notAComponent(type);
  const rendered = type(props as never);
  if (rendered instanceof Promise) {
    rendered.catch(() => undefined);
    throw workflowError(
      `<${type.name || "component"}>`,
      "is async; a component must return its elements synchronously.",
    );
  }
  return rendered;
}

/** The JSX runtime passes `<div>` as a string, and a failed import as `undefined`. */
function notAComponent(type: unknown): Error {
  const { Workflow: _root, Ralph: _alias, ...others } = COMPONENTS;
  const components = Object.keys(others)
    .map((name) => `<${name}>`)
    .join(", ");
  if (typeof type === "string") {
    return workflowError(
      `<${type}>`,
      "is not a workflow component: workflows render no HTML.",
      `Use ${components}, or a function that returns them.`,
    );
  }
  return workflowError(
    "an element",
    `has ${type === undefined ? "undefined" : typeof type} instead of a component.`,
    `Check the import of the component. Toolwright exports ${components}.`,
  );
}

function nodesOf(children: unknown, found: Found): PlanNode[] {
  if (Array.isArray(children)) return children.flatMap((child) => nodesOf(child, found));
  if (children === null || children === undefined || typeof children === "boolean") return [];
  if (typeof children === "string" && children.trim() === "") return [];
  if (!isElement(children)) {
    const what = typeof children === "object" ? "an object" : JSON.stringify(children);
    throw workflowError(
      "a group",
      `contains ${what}; only elements are allowed there.`,
      "Put text and values inside a <Task>.",
    );
  }
  const { type, props } = children;
  const kind = kindOf(type);
  if (kind !== undefined && kind !== "workflow") checkProps(kind, props, nameOf(kind, type.name, props));
  const list = (): PlanNode[] => nodesOf(props["children"], found);
  switch (kind) {
    case "fragment":
      return list();
    case "workflow":
      throw workflowError("<Workflow>", "cannot be nested inside another <Workflow>.");
    case "task":
      return [taskOf(props as unknown as TaskProps, found)];
    case "approval":
      return [taskOf(approvalTask(props as unknown as ApprovalProps), found)];
    case "sleep":
      return [taskOf(sleepTask(props as unknown as SleepProps), found)];
    case "signal":
      return [taskOf(signalTask(props as unknown as SignalProps), found)];
    case "sequence":
      return [{ kind, children: list() }];
    case "saga":
      return [{ kind, id: props["id"] as string | undefined, children: list() }];
    case "parallel":
      return [
        {
          kind: "parallel",
          children: list(),
          maxConcurrency: (props["maxConcurrency"] as number) ?? Infinity,
        },
      ];
    case "branch":
      return nodesOf(props["if"] === true ? props["then"] : props["else"], found);
    case "loop":
      return [loopOf(props, list(), found)];
    case undefined:
      return nodesOf(callComponent(type, props), found);
  }
}

/** The name of a node in errors. */
function nameOf(kind: ComponentKind, component: string, { id }: Readonly<Record<string, unknown>>): string {
  if (typeof id !== "string" || id === "") return `<${component}>`;
  const shown = id.length <= 40 ? id : `${id.slice(0, 40)}…`;
  return kind === "task" ? `task "${shown}"` : `<${component} id="${shown}">`;
}

/** An `<Approval>` is a task that consists only of its approval. */
function approvalTask(props: ApprovalProps): TaskProps {
  const { request, prompt, children, ...rest } = props;
  const prompts = [
    prompt,
    request === undefined ? undefined : [request.title, request.summary].filter(Boolean).join("\n"),
    typeof children === "string" && children.trim() !== "" ? children.trim() : undefined,
  ].filter((text) => text !== undefined);
  if (prompts.length > 1) {
    throw workflowError(
      `<Approval id="${props.id}">`,
      "has more than one prompt.",
      "Use only one of prompt, request={{ title, summary }} and text between the tags.",
    );
  }
  return { ...rest, asks: true, prompt: prompts[0] };
}

function sleepTask({ for: duration, until, ...rest }: SleepProps): TaskProps {
  return { ...rest, sleeps: { for: duration, until } };
}

function signalTask({ name, schema, timeoutMs, onTimeout, ...rest }: SignalProps): TaskProps {
  return { ...rest, awaits: { name, schema, timeoutMs, onTimeout } };
}

function taskOf(props: TaskProps, found: Found): PlanNode {
  const { id } = props;
  if (found.tasks.has(id))
    throw workflowError(`task "${id}"`, "appears twice in the tree.", "Give each <Task> a unique id.");
  if ([props.children].flat().some(isElement)) {
    throw workflowError(
      `task "${id}"`,
      "contains an element: a task is one step and contains no others.",
      "Put the elements side by side in a <Sequence> or <Parallel>. A task contains a prompt, a value or a function.",
    );
  }
  found.tasks.set(id, props);
  return { kind: "task", props };
}

function loopOf(
  props: Readonly<Record<string, unknown>>,
  children: readonly PlanNode[],
  found: Found,
): PlanNode {
  const id = typeof props["id"] === "string" ? props["id"] : undefined;
  const name = id === undefined ? "<Loop>" : `<Loop id="${id}">`;
  const until = props["until"] === true;
  if (typeof props["until"] !== "boolean" && props["maxIterations"] === undefined) {
    throw workflowError(
      name,
      "would never end: until is neither true nor false, and maxIterations is not set.",
      "Use a comparison for until, or set maxIterations={…}.",
    );
  }
  if (children.length === 0 && !until) throw workflowError(name, "has no children.");
  found.loops += 1;
  const isDefaultLimit = props["maxIterations"] === undefined;
  return {
    kind: "loop",
    number: found.loops,
    name,
    id,
    body: { kind: "sequence", children },
    until,
    maxIterations: isDefaultLimit ? DEFAULT_MAX_ITERATIONS : (props["maxIterations"] as number),
    isDefaultLimit,
    // Without an explicit limit, a loop that never meets its condition is an error.
    onMaxReached:
      (props["onMaxReached"] as "return-last" | "fail" | undefined) ??
      (isDefaultLimit ? "fail" : "return-last"),
  };
}

function checkDependencies(node: PlanNode, tasks: ReadonlyMap<string, TaskProps>): void {
  if (node.kind === "task") {
    for (const id of dependenciesOf(node.props)) {
      if (!tasks.has(id)) {
        throw workflowError(`task "${node.props.id}"`, `depends on "${id}", which is not in the tree.`);
      }
    }
    return;
  }
  for (const child of node.kind === "loop" ? [node.body] : node.children) checkDependencies(child, tasks);
}

export function dependenciesOf(props: TaskProps): string[] {
  return [...(props.dependsOn ?? []), ...Object.keys(props.deps ?? {})];
}

/** The plan as listeners see it: groups, loops and task ids. Nested sequences are flattened. */
export function outlineOf(node: PlanNode): readonly PlanOutline[] {
  switch (node.kind) {
    case "task":
      return [{ kind: "task", id: node.props.id }];
    case "sequence":
    case "saga":
      return node.children.flatMap(outlineOf);
    case "loop":
      return [
        { kind: "loop", ...(node.id === undefined ? {} : { id: node.id }), children: outlineOf(node.body) },
      ];
    case "parallel":
      return [
        {
          kind: "parallel",
          children: node.children.flatMap((child) =>
            child.kind === "sequence" || child.kind === "saga"
              ? [{ kind: "sequence" as const, children: outlineOf(child) }]
              : outlineOf(child),
          ),
        },
      ];
  }
}

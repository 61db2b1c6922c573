/** A rendered tree as a plan: what follows what. Pure: it knows neither what has been done nor how anything is run. */
import { checkGroupProps, checkTaskProps, isOn, oneOf } from "./check-props.ts";
import { kindOf, type TaskProps } from "./components.ts";
import { isElement } from "./element.ts";
import { workflowError } from "./workflow-error.ts";

export type PlanNode =
  | { readonly kind: "sequence"; readonly children: readonly PlanNode[] }
  | { readonly kind: "parallel"; readonly children: readonly PlanNode[]; readonly maxConcurrency: number }
  | {
      readonly kind: "loop";
      /** Its place among the loops of the tree: two loops without a name are two. */
      readonly number: number;
      readonly name: string;
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
  readonly root: PlanNode;
  readonly tasks: ReadonlyMap<string, TaskProps>;
}

/** Passes of a loop whose author set no limit. */
export const DEFAULT_MAX_ITERATIONS = 100;

interface Found {
  readonly tasks: Map<string, TaskProps>;
  loops: number;
}

/** @throws WORKFLOW_INVALID with the name of the node */
export function createPlan(rendered: unknown): Plan {
  if (rendered instanceof Promise) {
    rendered.catch(() => undefined);
    throw workflowError("the function given to smithers()", "is async; it must return the tree at once.");
  }
  const element = unwrap(rendered);
  if (!isElement(element) || kindOf(element.type) !== "workflow") {
    throw workflowError(
      "the root",
      "must be a <Workflow>; smithers() was given a function that returns something else.",
    );
  }
  const { name, children } = element.props;
  if (typeof name !== "string" || name === "") throw workflowError("<Workflow>", "needs a name.");
  const found: Found = { tasks: new Map(), loops: 0 };
  const root: PlanNode = { kind: "sequence", children: nodesOf(children, found) };
  checkDependencies(root, found.tasks);
  return { name, root, tasks: found.tasks };
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
  const made = type(props as never);
  if (made instanceof Promise) {
    made.catch(() => undefined);
    throw workflowError(
      `<${type.name || "component"}>`,
      "is async; components must return their elements at once.",
    );
  }
  return made;
}

function nodesOf(children: unknown, found: Found): PlanNode[] {
  if (Array.isArray(children)) return children.flatMap((child) => nodesOf(child, found));
  if (children === null || children === undefined || typeof children === "boolean") return [];
  if (typeof children === "string" && children.trim() === "") return [];
  if (!isElement(children)) {
    const what = typeof children === "object" ? "an object" : JSON.stringify(children);
    throw workflowError(
      "a group",
      `holds ${what}, where only elements may stand.`,
      "Put texts and values inside a <Task>.",
    );
  }
  const { type, props } = children;
  const kind = kindOf(type);
  if (kind === "parallel" || kind === "loop") checkGroupProps(props, `<${type.name}>`);
  const list = (): PlanNode[] => nodesOf(props["children"], found);
  switch (kind) {
    case "fragment":
      return list();
    case "workflow":
      throw workflowError("<Workflow>", "stands inside another one.");
    case "task":
      return [taskOf(props as unknown as TaskProps, found)];
    case "approval":
      return [taskOf({ ...props, asks: true } as unknown as TaskProps, found)];
    case "sequence":
      return [{ kind: "sequence", children: list() }];
    case "parallel":
      return [
        {
          kind: "parallel",
          children: list(),
          maxConcurrency: positive(props["maxConcurrency"], "<Parallel>"),
        },
      ];
    case "branch":
      return nodesOf(isOn(props["if"], "<Branch>", "if") ? props["then"] : props["else"], found);
    case "loop":
      return [loopOf(props, list(), found)];
    case undefined:
      return nodesOf(callComponent(type, props), found);
  }
}

function taskOf(props: TaskProps, found: Found): PlanNode {
  checkTaskProps(props);
  const { id } = props;
  if (found.tasks.has(id))
    throw workflowError(`task "${id}"`, "stands twice in the tree.", "Give each <Task> an id of its own.");
  found.tasks.set(id, props);
  return { kind: "task", props };
}

function loopOf(
  props: Readonly<Record<string, unknown>>,
  children: readonly PlanNode[],
  found: Found,
): PlanNode {
  const name = typeof props["id"] === "string" ? `<Loop id="${props["id"]}">` : "<Loop>";
  const until = isOn(props["until"], name, "until");
  if (typeof props["until"] !== "boolean" && props["maxIterations"] === undefined) {
    throw workflowError(name, "has no end.", "Give it until={…}, maxIterations={…}, or both.");
  }
  if (children.length === 0 && !until) throw workflowError(name, "has nothing in it.");
  found.loops += 1;
  const isDefaultLimit = props["maxIterations"] === undefined;
  return {
    kind: "loop",
    number: found.loops,
    name,
    body: { kind: "sequence", children },
    until,
    maxIterations: isDefaultLimit ? DEFAULT_MAX_ITERATIONS : positive(props["maxIterations"], name),
    isDefaultLimit,
    // An author who set no limit did not say that a loop which never met its condition counts as done.
    onMaxReached:
      oneOf(props["onMaxReached"], name, "onMaxReached", ["return-last", "fail"]) ??
      (isDefaultLimit ? "fail" : "return-last"),
  };
}

function positive(value: unknown, name: string): number {
  if (value === undefined) return Infinity;
  if (typeof value === "number" && value >= 1) return value;
  throw workflowError(name, `needs a number of at least 1, not ${JSON.stringify(value)}.`);
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

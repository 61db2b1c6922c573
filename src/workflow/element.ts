/** The elements that JSX creates. Workflows do not use React: the tree describes tasks. */

import { assertSameVersion, MADE_BY, OWN_COPY, type PackageCopy } from "../definition/package-copy.ts";

export interface WorkflowElement {
  readonly type: Component;
  readonly props: Readonly<Record<string, unknown>>;
  readonly key: string | undefined;
}

/** Everything that is allowed between two tags. */
export type WorkflowNode =
  | WorkflowElement
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly WorkflowNode[];

/** A built-in component, which is a marker, or a component of the author, which is called. */
export type Component = (props: never) => unknown;

const ELEMENT = Symbol.for("toolwright.element");

export function createElement(
  type: Component,
  props: Readonly<Record<string, unknown>>,
  key: string | undefined,
): WorkflowElement {
  return { [ELEMENT]: true, [MADE_BY]: OWN_COPY, type, props, key } as WorkflowElement;
}

/** @throws TOOL_PACKAGE_CONFLICT if the JSX runtime of another version created it */
export function isElement(value: unknown): value is WorkflowElement {
  if (typeof value !== "object" || value === null || !(ELEMENT in value)) return false;
  assertSameVersion((value as { [MADE_BY]?: PackageCopy })[MADE_BY], "An element of the workflow's tree");
  return true;
}

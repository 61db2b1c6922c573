/** What JSX makes: a tree of elements. There is no React, and nothing is drawn: the tree says what is to be done. */

import { assertSameVersion, MADE_BY, OWN_COPY, type PackageCopy } from "../definition/package-copy.ts";

export interface WorkflowElement {
  readonly type: Component;
  readonly props: Readonly<Record<string, unknown>>;
  readonly key: string | undefined;
}

/** Whatever may stand between two tags. */
export type WorkflowNode =
  | WorkflowElement
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly WorkflowNode[];

/** A function of its props: one of ours, which stands for itself, or an author's, which is called. */
export type Component = (props: never) => unknown;

const ELEMENT = Symbol.for("toolwright.element");

export function createElement(
  type: Component,
  props: Readonly<Record<string, unknown>>,
  key: string | undefined,
): WorkflowElement {
  return { [ELEMENT]: true, [MADE_BY]: OWN_COPY, type, props, key } as WorkflowElement;
}

/** @throws TOOL_PACKAGE_CONFLICT where the JSX runtime of another version made it */
export function isElement(value: unknown): value is WorkflowElement {
  if (typeof value !== "object" || value === null || !(ELEMENT in value)) return false;
  assertSameVersion((value as { [MADE_BY]?: PackageCopy })[MADE_BY], "An element of the workflow's tree");
  return true;
}

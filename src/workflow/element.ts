/** What JSX makes: a tree of elements. There is no React, and nothing is drawn: the tree says what is to be done. */

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
  return { [ELEMENT]: true, type, props, key } as WorkflowElement;
}

export function isElement(value: unknown): value is WorkflowElement {
  return typeof value === "object" && value !== null && ELEMENT in value;
}

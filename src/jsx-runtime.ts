/** The functions that the compiler calls for JSX with `jsxImportSource: "toolwright"`. */
import { type Component, createElement, type WorkflowElement } from "./workflow/element.ts";

export function jsx(
  type: Component,
  props: Readonly<Record<string, unknown>>,
  key?: string | number,
): WorkflowElement {
  return createElement(type, props, key === undefined ? undefined : String(key));
}

export { jsx as jsxs };
export { Fragment } from "./workflow/components.ts";

// The compiler looks for types in a namespace of this name.
// oxlint-disable-next-line typescript/no-namespace
export declare namespace JSX {
  type Element = WorkflowElement;
  type ElementType = Component;
  interface ElementChildrenAttribute {
    children: unknown;
  }
  interface IntrinsicAttributes {
    key?: string | number | undefined;
  }
  // oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
  interface IntrinsicElements {}
}

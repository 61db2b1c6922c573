/**
 * Every text on the page, from any source: characters that reorder or hide text are shown as escapes. An approver must
 * see what a tool will get.
 */
import { options } from "preact";
import { escapeUnsafe } from "../src/util/storable-text.ts";

/** Attributes that are shown or read aloud. */
const SHOWN = ["title", "aria-label"];

/** Call it once, before the page is rendered. */
export function escapeTexts(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (node) => {
    // A text has no type, and its props are the text.
    const { type, props } = node as unknown as { readonly type: unknown; readonly props: unknown };
    if (type === null && typeof props === "string") (node as { props: unknown }).props = escapeUnsafe(props);
    else if (typeof type === "string") escapeAttributes(props as Record<string, unknown>);
    before?.(node);
  };
}

function escapeAttributes(props: Record<string, unknown>): void {
  for (const name of SHOWN) {
    const value = props[name];
    if (typeof value === "string") props[name] = escapeUnsafe(value);
  }
}

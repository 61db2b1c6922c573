/**
 * Every text on the page, whoever wrote it: characters that reorder or hide text are shown as escapes. An approver must
 * see what a tool will get.
 */
import { options } from "preact";
import { escapeUnsafe } from "../src/terminal/escape-unsafe.ts";

/** Call it once, before the page is rendered. */
export function escapeTexts(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (node) => {
    // A text has no type, and its props are the text.
    const text = node as unknown as { readonly type: unknown; props: unknown };
    if (text.type === null && typeof text.props === "string") text.props = escapeUnsafe(text.props);
    before?.(node);
  };
}

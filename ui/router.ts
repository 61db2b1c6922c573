/** The address of the page: views have paths, filters are in the query. */
import { signal } from "@preact/signals";
import { notice } from "./notice.ts";

export interface Address {
  /** Relative to the base, without a leading slash: "", "approvals", "runs/order-17". */
  readonly path: string;
  readonly query: URLSearchParams;
}

function read(): Address {
  const base = new URL(document.baseURI).pathname;
  const { pathname, search } = location;
  const path = pathname.startsWith(base) ? pathname.slice(base.length) : "";
  return { path, query: new URLSearchParams(search) };
}

export const address = signal<Address>(read());

addEventListener("popstate", () => {
  address.value = read();
});

export function runPath(runId: string): string {
  return `runs/${encodeURIComponent(runId)}`;
}

/** @param how `replace` for filters: typing must not fill the history */
export function go(
  path: string,
  query: URLSearchParams = new URLSearchParams(),
  how: "push" | "replace" = "push",
): void {
  const text = query.toString();
  const url = new URL(text === "" ? path || "." : `${path || "."}?${text}`, document.baseURI);
  if (how === "push") history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  address.value = read();
  if (how === "push") {
    notice.value = "";
    scrollTo(0, 0);
    // Screen readers and the keyboard start at the new view.
    requestAnimationFrame(() => document.querySelector<HTMLElement>("h1")?.focus());
  }
}

/** For links: the browser handles modified clicks, such as clicks that open a new tab. */
export function onLink(event: MouseEvent): void {
  const { currentTarget, button, metaKey, ctrlKey, shiftKey, altKey } = event;
  if (
    button !== 0 ||
    metaKey ||
    ctrlKey ||
    shiftKey ||
    altKey ||
    !(currentTarget instanceof HTMLAnchorElement)
  )
    return;
  event.preventDefault();
  const base = new URL(document.baseURI).pathname;
  const url = new URL(currentTarget.href);
  go(url.pathname.slice(base.length), url.searchParams);
}

/** The current filters with some of them replaced; an empty text removes one. */
export function withQuery(changes: Readonly<Record<string, string>>): URLSearchParams {
  const query = new URLSearchParams(address.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  return query;
}

/** The sections of the site, in the order in which readers need them. New pages appear by themselves. */
import type { Page } from "./content.ts";

export interface Section {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** Pages that come first in their section; the others follow by title. */
const FIRST: readonly string[] = [
  "start/agent.md",
  "start/workflow.md",
  "start/concepts.md",
  "start/troubleshooting.md",
  "guides/approvals.md",
  "guides/idempotency.md",
  "guides/retries-limits-cache.md",
  "guides/ai-sdk.md",
  "guides/anthropic.md",
  "guides/openai-agents.md",
  "guides/langchain.md",
  "guides/mcp.md",
  "guides/commands.md",
  "guides/workflows.md",
  "guides/smart-agents.md",
  "reference/tools.md",
  "reference/context.md",
  "reference/runtime.md",
  "reference/log.md",
  "reference/events.md",
  "reference/workflows.md",
  "internals/durability.md",
];

const SECTIONS: readonly (readonly [title: string, folder: string])[] = [
  ["Start", "start/"],
  ["Guides", "guides/"],
  ["Reference", "reference/"],
  ["Internals", "internals/"],
  ["Examples", "examples/"],
  ["Decisions", "decisions/"],
];

export function createSidebar(pages: readonly Page[]): Section[] {
  const inFolders = SECTIONS.map(([text, folder], index) => ({
    text,
    collapsed: index > 2,
    items: pages
      .filter(({ target }) => target.startsWith(folder))
      .toSorted(byPlace)
      .map(({ title, target }) => ({ text: title, link: linkOf(target) })),
  }));
  const isListed = ({ target }: Page): boolean => SECTIONS.some(([, folder]) => target.startsWith(folder));
  const others = pages.filter((page) => !isListed(page) && !["index.md", "pages.md"].includes(page.target));
  const more = others.map(({ title, target }) => ({ text: title, link: linkOf(target) }));
  return [
    {
      text: "Overview",
      items: [
        { text: "Toolwright", link: "/" },
        { text: "All pages", link: "/pages" },
      ],
    },
    ...inFolders,
    { text: "More", items: [{ text: "API from the types", link: "/api/" }, ...more] },
  ];
}

function byPlace(a: Page, b: Page): number {
  const place = ({ target }: Page): number => (FIRST.indexOf(target) + FIRST.length + 1) % (FIRST.length + 1);
  return place(a) - place(b) || a.title.localeCompare(b.title);
}

function linkOf(target: string): string {
  return `/${target.replace(/(?:index)?\.md$/, "")}`;
}

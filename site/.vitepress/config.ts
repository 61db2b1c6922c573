/** Local search, no requests to other hosts, and anchors like those of GitHub. */
import { defineConfig } from "vitepress";
import { readPages } from "../content.ts";
import { createSidebar } from "../sidebar.ts";

export default defineConfig({
  title: "Toolwright",
  description: "A durable tool runtime for AI agents, in TypeScript.",
  srcDir: ".content",
  cleanUrls: true,
  lastUpdated: false,
  // The pages contain no HTML: a stray `<tag>` is text.
  markdown: {
    html: false,
    anchor: { slugify: slugOf },
    config: (markdown) => {
      // Vue would evaluate `{{ … }}` in code, which is how JSX writes objects. VitePress marks only whole blocks as verbatim.
      const render = markdown.renderer.rules.code_inline;
      markdown.renderer.rules.code_inline = (...args) =>
        render === undefined ? "" : render(...args).replace("<code", "<code v-pre");
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Start", link: "/start/agent" },
      { text: "Guides", link: "/guides/approvals" },
      { text: "Reference", link: "/reference/tools" },
      { text: "API", link: "/api/" },
    ],
    sidebar: createSidebar(readPages()).map((section) => ({ ...section, items: [...section.items] })),
  },
});

/** The pages are read on GitHub and in the package too, so their links must work there and here. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

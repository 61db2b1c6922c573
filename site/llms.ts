/** `llms.txt`, a map of the pages for language models, and `llms-full.txt`, all pages in one text (llmstxt.org). */
import type { Page } from "./content.ts";
import type { Section } from "./sidebar.ts";

const SUMMARY =
  "Toolwright runs the tools of AI agents so that a crash, a retry or a restart does not repeat their side effects. TypeScript, Node 22.13 or later.";

export function createLlmsText(sections: readonly Section[]): string {
  const listed = sections.map(({ text, items }) => {
    const links = items.map((item) => `- [${item.text}](${item.link})`);
    return `## ${text}\n\n${links.join("\n")}\n`;
  });
  return `# Toolwright\n\n> ${SUMMARY}\n\n${listed.join("\n")}`;
}

export function createFullText(pages: readonly Page[]): string {
  const texts = pages
    .filter(({ source }) => !source.startsWith("docs/decisions/") && source !== "CHANGELOG.md")
    .map(({ source, text }) => `<!-- ${source} -->\n\n${text.trim()}\n`);
  return `> ${SUMMARY}\n\n${texts.join("\n---\n\n")}`;
}

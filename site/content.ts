/** Copies the pages of the repository into `.content/`, where VitePress reads them, with links of the site. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, relative, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "..");
export const CONTENT = join(import.meta.dirname, ".content");

export interface Page {
  /** In the repository, such as `docs/start/agent.md`. */
  readonly source: string;
  /** On the site, such as `start/agent.md`. */
  readonly target: string;
  readonly title: string;
  readonly text: string;
}

const FIXED: Readonly<Record<string, string>> = {
  "README.md": "index.md",
  "docs/README.md": "pages.md",
  "SECURITY.md": "security.md",
  "CHANGELOG.md": "changelog.md",
  "examples/README.md": "examples/index.md",
  "skills/toolwright/SKILL.md": "skill.md",
};

/** The files of `docs/` that are copied beside the pages. */
const IMAGE = /\.(svg|png)$/;

/** Every page of the site but the API reference, in the order of the folders. */
export function readPages(): Page[] {
  const sources = [...Object.keys(FIXED), ...list("docs", /\.md$/), ...list("examples", /\.tsx?$/)];
  const pages = [...new Set(sources)].map((source) => {
    const text = source.endsWith(".md") ? read(source) : exampleText(source);
    const title = /^# (.*)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? source;
    return { source, target: targetOf(source) ?? source, title, text };
  });
  return [...pages, decisionsPage(pages)];
}

/** Where a file of the repository is on the site; `undefined` if it is not there. */
function targetOf(source: string): string | undefined {
  const fixed = FIXED[source];
  if (fixed !== undefined) return fixed;
  if (source.startsWith("examples/")) return source.replace(/\.tsx?$/, ".md");
  if (source === "docs/decisions") return "decisions/index.md";
  const copied = source.endsWith(".md") || IMAGE.test(source);
  return copied && source.startsWith("docs/") ? source.slice("docs/".length) : undefined;
}

export function writeContent(pages: readonly Page[]): void {
  rmSync(CONTENT, { recursive: true, force: true });
  for (const page of pages) write(page.target, renderPage(page));
  for (const image of list("docs", IMAGE)) {
    const target = join(CONTENT, targetOf(image) ?? image);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(ROOT, image), target);
  }
}

export function write(target: string, text: string): void {
  const path = join(CONTENT, target);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The text of a page with links of the site. @throws if a link leads to a file that is not on the site */
export function renderPage({ source, target, text }: Page): string {
  // Marks for scripts, such as `<!-- codes -->`, are not part of the text.
  return text
    .replaceAll(/^<!--.*-->\n/gm, "")
    .replaceAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (whole, path: string, anchor = "") => {
      const linked = normalize(join(dirname(source), path)).replace(/\/$/, "");
      const found = targetOf(linked);
      if (found === undefined || !existsSync(join(ROOT, linked))) {
        throw new Error(`${source} links to ${linked}, which is not on the site.`);
      }
      const short = relative(dirname(target), found);
      return whole.replace(
        `(${path}${anchor})`,
        `(${short.startsWith(".") ? short : `./${short}`}${anchor})`,
      );
    });
}

function exampleText(source: string): string {
  const name = source.slice("examples/".length);
  const language = source.endsWith("x") ? "tsx" : "ts";
  return `# ${name}\n\n\`\`\`${language}\n${read(source).trim()}\n\`\`\`\n`;
}

function decisionsPage(pages: readonly Page[]): Page {
  const records = pages.filter(({ source }) => source.startsWith("docs/decisions/"));
  const items = records.map(({ source, title }) => `- [${title}](${source.replace("docs/decisions/", "")})`);
  const text = `# Decisions\n\nOne short record for each decision that others may question.\n\n${items.join("\n")}\n`;
  return { source: "docs/decisions/index.md", target: "decisions/index.md", title: "Decisions", text };
}

function list(folder: string, name: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => name.test(file))
    .map((file) => `${folder}/${file}`)
    .toSorted();
}

function read(source: string): string {
  return readFileSync(join(ROOT, source), "utf8");
}

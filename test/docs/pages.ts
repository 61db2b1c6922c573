/** The Markdown pages of the project, their links, their headings and their code blocks. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../..");

const FOLDERS = ["docs", "skills", "examples", ".github"];

/** Paths relative to the repository. */
export function listPages(): string[] {
  const inFolders = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  return [...readdirSync(ROOT), ...inFolders].filter((name) => name.endsWith(".md")).toSorted();
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

export interface Link {
  readonly path: string;
  readonly anchor: string;
}

/** Links to files and headings, including images; not those inside code. */
export function linksOf(text: string): Link[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "code");
  return [...prose.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(
    ([, path = "", anchor = ""]) => ({ path, anchor }),
  );
}

/** The anchors that GitHub and our site give to headings. */
export function anchorsOf(text: string): Set<string> {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "");
  const anchors = new Set<string>();
  for (const [, heading = ""] of prose.matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = slugOf(heading);
    let unique = slug;
    for (let n = 1; anchors.has(unique); n += 1) unique = `${slug}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /** What follows the language: a file name, `run`, `fails`. */
  readonly words: readonly string[];
  readonly text: string;
}

export function blocksOf(page: string): Block[] {
  const lines = readPage(page).split("\n");
  const blocks: Block[] = [];
  for (let start = 0; start < lines.length; start += 1) {
    const [, indent = "", info] = /^( *)```(.*)$/.exec(lines[start] ?? "") ?? [];
    if (info === undefined) continue;
    const end = lines.findIndex((line, index) => index > start && line.trimEnd() === `${indent}\`\`\``);
    const [language = "", ...words] = info.trim().split(/\s+/);
    const text = lines
      .slice(start + 1, end)
      .map((line) => line.slice(indent.length))
      .join("\n");
    blocks.push({ page, line: start + 1, language, words, text });
    start = end;
  }
  return blocks;
}

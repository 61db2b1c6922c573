/**
 * Keeps docs/reference/errors.md in step with the table in src/errors.ts: one section for each code, with the meaning and
 * the hint of the table. The line "Fix" is written by hand and kept; a new code gets its hint there. A test compares the
 * page with the table. Run: node scripts/errors-page.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ERROR_CODES } from "../src/errors.ts";

export const ERRORS_PAGE = join(resolve(import.meta.dirname, ".."), "docs/reference/errors.md");

const BEGIN = "<!-- codes -->";
const END = "<!-- end of codes -->";

/** The page as it should be. */
export function renderErrorsPage(page: string): string {
  const [before = "", rest = ""] = page.split(BEGIN);
  const [sections = "", after = ""] = rest.split(END);
  const texts = Object.entries(ERROR_CODES).map(([code, { meaning, hint }]) => {
    const fix = fixOf(sections, code) ?? hint;
    const lines = [meaning, "", ...wrap(`- Model reads: ${hint}`), ...wrap(`- Fix: ${fix}`)];
    return `### \`${code}\`\n\n${lines.join("\n")}\n`;
  });
  return `${before}${BEGIN}\n\n${texts.join("\n")}\n${END}${after}`;
}

function fixOf(sections: string, code: string): string | undefined {
  const [, section] = sections.split(`### \`${code}\`\n`);
  return /^- Fix: (.*(?:\n {2}.*)*)/m.exec(section ?? "")?.[1]?.replaceAll(/\s+/g, " ");
}

/** A list item in lines of at most 140 characters. */
function wrap(item: string): string[] {
  const lines = [""];
  for (const word of item.split(" ")) {
    const longer = `${lines.at(-1)}${lines.at(-1) === "" ? "" : " "}${word}`;
    if (longer.length <= 140) lines[lines.length - 1] = longer;
    else lines.push(`  ${word}`);
  }
  return lines;
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(ERRORS_PAGE, renderErrorsPage(readFileSync(ERRORS_PAGE, "utf8")));
}

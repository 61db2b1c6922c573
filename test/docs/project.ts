/** A project of a new user, who has pasted the programs of a page into an empty folder. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { blocksOf, ROOT } from "./pages.ts";

export const TOOLWRIGHT = join(ROOT, "dist/cli/main.js");

/** As after `npm install toolwright zod ai`. */
export function createProject(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-docs-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules/toolwright"));
  for (const name of ["ai", "zod"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  return folder;
}

/** With the programs of the page, under the names that it gives them. */
export function pasteProgramsOf(page: string): string {
  const folder = createProject();
  for (const { words, text } of blocksOf(page)) {
    const [file] = words;
    if (file !== undefined) writeFileSync(join(folder, file), text);
  }
  return folder;
}

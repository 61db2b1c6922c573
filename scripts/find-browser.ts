/** Finds the Chromium that `npm run setup` installs, for screenshots and tests of the page. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

export function findBrowser(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (found === undefined) throw new Error("The page needs Chromium here: npm run setup installs it.");
  return found;
}

/**
 * A location where another user can read this project. PostgreSQL refuses to run as root, and some tests run as an ordinary
 * user. For them, a checkout below a folder that only root may enter is copied to a readable one.
 */
import { cpSync, mkdtempSync, rmSync, statSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

export interface PublicRoot {
  readonly path: string;
  remove(): void;
}

const PROJECT = resolve(import.meta.dirname, "..");
const COPIED = ["node_modules", "sql", "src", "test", "package.json"];

export function preparePublicRoot(): PublicRoot {
  if (process.getuid?.() !== 0 || isOpenToAll(PROJECT)) return { path: PROJECT, remove: () => undefined };
  const path = mkdtempSync(join(tmpdir(), "toolwright-public-"));
  chmodSync(path, 0o755);
  for (const name of COPIED)
    cpSync(join(PROJECT, name), join(path, name), { recursive: true, verbatimSymlinks: true });
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The current Node executable, in a location where every user can run it. */
export function publicNode(root: string): string {
  const { execPath } = process;
  return execPath.startsWith(`${PROJECT}/`) ? join(root, execPath.slice(PROJECT.length + 1)) : execPath;
}

function isOpenToAll(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o005) === 0o005;
  return isOpen && (dirname(folder) === folder || isOpenToAll(dirname(folder)));
}

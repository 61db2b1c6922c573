/**
 * Caches the index of the last snapshot next to the repository's own, so that the next snapshot reads only changed
 * files. An agent can write there, so an index is used only if its hash matches the one in the store. It may be
 * deleted at any time.
 */
import { createHash, randomUUID } from "node:crypto";
import { lstatSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { quoted } from "../terminal/terminal-text.ts";

/** A script that copies the cached index, if there is one. */
export function copyKeptIndex(gitDir: string, index: string): string {
  const from = quoted(cacheOf(gitDir));
  return `if [ -f ${from} ] && [ ! -L ${from} ]; then cat ${from} >${quoted(index)} 2>/dev/null; fi; true`;
}

/** Whether the copy is the index whose hash the store has. Any other is deleted. */
export function acceptIndex(index: string, indexHash: string | undefined): boolean {
  const [hash, seconds] = indexHash?.split("@") ?? [];
  if (hash === undefined || hash !== hashOf(index)) {
    rmSync(index, { force: true });
    return false;
  }
  // Git rereads a file that is as recent as the index, because a change within one second does not show in the
  // timestamp. A copy that looks newer than the original index would hide such a change. One that looks older hides
  // nothing.
  utimesSync(index, Number(seconds), Number(seconds));
  return true;
}

/** The stored data about an index. */
export function describeIndex(index: string): string {
  return `${hashOf(index)}@${Math.floor(lstatSync(index).mtimeMs / 1000)}`;
}

/** A script that caches the index. It may fail without harm: the next snapshot then reads every file. */
export function keepIndex(gitDir: string, index: string): string {
  const cache = quoted(cacheOf(gitDir));
  const temporary = quoted(`${cacheOf(gitDir)}.${randomUUID()}`);
  const copy = `cat ${quoted(index)} >${temporary} && [ ! -d ${cache} ] && mv -f ${temporary} ${cache}`;
  return `(${copy} || rm -f ${temporary}) 2>/dev/null; true`;
}

function cacheOf(gitDir: string): string {
  return join(gitDir, "toolwright-index");
}

function hashOf(file: string): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

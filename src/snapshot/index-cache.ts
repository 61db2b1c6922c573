/**
 * Keeps the index of the last snapshot beside the repository's own, so that the next one reads only the files that
 * changed. An agent can write there, so an index counts only if it is the one whose hash the store has. It may be
 * deleted at any time.
 */
import { createHash, randomUUID } from "node:crypto";
import { lstatSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { quoted } from "../terminal/terminal-text.ts";

/** A script that copies it, where there is one. */
export function copyKeptIndex(gitDir: string, index: string): string {
  const from = quoted(cacheOf(gitDir));
  return `if [ -f ${from} ] && [ ! -L ${from} ]; then cat ${from} >${quoted(index)} 2>/dev/null; fi; true`;
}

/** Whether the copy is the index that the store knows; another one is deleted. */
export function acceptIndex(index: string, indexHash: string | undefined): boolean {
  const [hash, seconds] = indexHash?.split("@") ?? [];
  if (hash === undefined || hash !== hashOf(index)) {
    rmSync(index, { force: true });
    return false;
  }
  // Git reads a file again when it is as young as the index, since a change within one second shows in no time stamp. A
  // copy that looks younger than the index was would hide such a change; one that looks older hides nothing.
  utimesSync(index, Number(seconds), Number(seconds));
  return true;
}

/** What the store has to know of an index. */
export function describeIndex(index: string): string {
  return `${hashOf(index)}@${Math.floor(lstatSync(index).mtimeMs / 1000)}`;
}

/** A script that keeps it. It may fail without harm: then the next snapshot reads every file. */
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

/**
 * Compares the file names of a patch's header with the file that is to be edited. Must never choose a file by them:
 * they can only agree or be refused.
 */
import { parsePatch } from "diff";
import { patchFailed } from "./patch-error.ts";

/** `names` are the spellings of the one file that is meant, relative or absolute. */
export function checkHeaderNames(header: readonly string[], names: readonly string[]): void {
  for (const line of header) {
    for (const name of namesIn(line)) {
      if (names.some((own) => isSameFile(name, own))) continue;
      throw patchFailed(
        (show) =>
          `its header names ${show(name)}, and the file to edit is ${JSON.stringify(names[0] ?? "")}.`,
        "Name the file to edit in the header, or leave the header out.",
      );
    }
  }
}

/** The prefixes that git, also with its mnemonic ones, and people put before a name. */
const PREFIX = /^(?:a|b|c|i|o|w|old|new)\//;

function isSameFile(name: string, own: string): boolean {
  const plain = withoutDots(name);
  const candidates = [plain, plain.replace(PREFIX, "")];
  // A shorter name, as seen from a folder further down, still ends like the path.
  return candidates.some((candidate) => candidate === own.trim() || own.trim().endsWith(`/${candidate}`));
}

function withoutDots(name: string): string {
  return name.replace(/^(?:\.\/)+/, "").replace(/^([a-z]+\/)\.\//, "$1");
}

function namesIn(line: string): string[] {
  if (!/^(?:--- |\+\+\+ |diff --git |Index: )/.test(line)) return [];
  if (line.startsWith("diff --git ")) return gitNames(line);
  // The parser wants both lines, and knows how names are quoted and where the time begins.
  if (line.startsWith("Index: ")) return [line.slice("Index: ".length).trim()];
  const [parsed] = parsePatch(`--- ${line.slice(4)}\n+++ ${line.slice(4)}\n`);
  return parsed?.oldFileName === undefined ? [] : [parsed.oldFileName];
}

function gitNames(line: string): string[] {
  const [parsed] = parsePatch(`${line}\n`);
  if (parsed?.oldFileName !== undefined && parsed.newFileName !== undefined) {
    return [parsed.oldFileName, parsed.newFileName];
  }
  // Without prefixes the same name stands there twice; where it does not, the line has no meaning to rely on.
  const rest = line.slice("diff --git ".length);
  const half = rest.slice(0, (rest.length - 1) / 2);
  return rest === `${half} ${half}` ? [half] : [rest];
}

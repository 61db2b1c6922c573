/**
 * Compares the file names in a patch's header with the file to edit. It must never choose a file by them: they either
 * match or are refused.
 */
import { parsePatch } from "diff";
import { patchFailed } from "./patch-error.ts";

/** `names` holds the spellings of the file to edit, relative or absolute. */
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

/** The prefixes that git, including its mnemonic ones, and people put before a name. */
const PREFIX = /^(?:a|b|c|i|o|w|old|new)\//;

function isSameFile(name: string, own: string): boolean {
  const plain = withoutDots(name);
  const candidates = [plain, plain.replace(PREFIX, "")];
  // A shorter name, relative to a subfolder, still matches the end of the path.
  return candidates.some((candidate) => candidate === own.trim() || own.trim().endsWith(`/${candidate}`));
}

function withoutDots(name: string): string {
  return name.replace(/^(?:\.\/)+/, "").replace(/^([a-z]+\/)\.\//, "$1");
}

function namesIn(line: string): string[] {
  if (!/^(?:--- |\+\+\+ |diff --git |Index: )/.test(line)) return [];
  if (line.startsWith("diff --git ")) return gitNames(line);
  // The parser needs both lines. It knows how names are quoted and where the timestamp begins.
  if (line.startsWith("Index: ")) return [line.slice("Index: ".length).trim()];
  const [parsed] = parsePatch(`--- ${line.slice(4)}\n+++ ${line.slice(4)}\n`);
  return parsed?.oldFileName === undefined ? [] : [parsed.oldFileName];
}

function gitNames(line: string): string[] {
  const [parsed] = parsePatch(`${line}\n`);
  if (parsed?.oldFileName !== undefined && parsed.newFileName !== undefined) {
    return [parsed.oldFileName, parsed.newFileName];
  }
  // Without prefixes the line contains the same name twice. If it does not, the line cannot be interpreted.
  const rest = line.slice("diff --git ".length);
  const half = rest.slice(0, (rest.length - 1) / 2);
  return rest === `${half} ${half}` ? [half] : [rest];
}

/**
 * Searches the sandbox root with ripgrep, in the same sandbox as commands, with the root read-only. A pattern must
 * never be parsed as an option: `--pre=./x.sh` would run a program.
 */
import { relative } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { isInside } from "../is-inside.ts";
import type { Isolation } from "../tiers/isolation.ts";
import { hiddenInRoot } from "../protection/plan-protections.ts";
import type { IsolationMode, IsolationTier } from "../tiers/isolation-tier.ts";
import { checkProcessLimits, checkText } from "../process/command-limits.ts";
import { refuseUnstarted } from "../process/command-outcome.ts";
import { toRealPaths } from "../process/real-paths.ts";
import { resolveInside, type ResolvedLocation } from "../process/resolve-inside.ts";
import { runConfined } from "../process/run-command.ts";
import type { ProcessResult } from "../process/run-process.ts";
import { parseMatches, sortMatches } from "./match-lines.ts";
import { findRipgrep } from "./ripgrep-binary.ts";

export interface SearchRequest {
  readonly rootDir: string;
  readonly pattern: string;
  /** A folder or a file, relative to the root or absolute within it. Defaults to the whole root. */
  readonly path?: string | undefined;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
  readonly isolation: IsolationMode;
  readonly signal?: AbortSignal | undefined;
  readonly hidden?: readonly string[] | undefined;
  /** For tests. Defaults to the isolation of this process. */
  readonly on?: Isolation | undefined;
}

export interface SearchResult {
  /** Lines of `file:line:text`, sorted by path and line. Empty if nothing matched. */
  readonly output: string;
  readonly truncated: boolean;
  readonly tier: IsolationTier;
}

/** One argument of a process has at most 128 KiB. */
export const MAX_PATTERN_LENGTH = 32_768;
const MAX_COLUMNS = 2_000;

export async function searchFiles(request: SearchRequest): Promise<SearchResult> {
  checkText("pattern", request.pattern, MAX_PATTERN_LENGTH);
  checkProcessLimits(request);
  const rg = await findRipgrep();
  const location = resolveTarget(request);
  location.close();
  const hidden = [...toRealPaths(request.hidden ?? [], location.roots), ...hiddenInRoot(location.realRoot)];
  if (hidden.some((path) => isInside(location.realPath, path))) throw protectedPath(request.path);
  const target = `./${relative(location.realRoot, location.realPath)}`;
  const { result, tier } = await runConfined(
    {
      ...request,
      cmd: rg,
      args: [...OPTIONS, ...excluded(hidden, location.realRoot), "-e", request.pattern, "--", target],
      cwd: undefined,
      allowNetwork: false,
      readOnly: [rg],
      rootReadOnly: true,
      // All collected output is shown, so the search may stop as soon as it has enough.
      maxOutputBytes: request.maxOutputBytes + SLACK,
      floodBytes: request.maxOutputBytes,
    },
    false,
    "ownProgram",
  );
  refuseUnstarted({ cmd: rg }, result, tier);
  return toSearchResult(request, result, tier);
}

/** A path that does not exist is a failed search, as it is for ripgrep. */
function resolveTarget({ rootDir, path }: SearchRequest): ResolvedLocation {
  try {
    return resolveInside(rootDir, path);
  } catch (error) {
    if (!ToolwrightError.is(error) || error.code !== "TOOL_FILE_NOT_FOUND") throw error;
    throw new ToolwrightError("TOOL_GREP_FAILED", error.message, {
      hint: "Name a folder or a file that exists below the root, or leave the path out to search all of it.",
      effect: "none",
    });
  }
}

const SLACK = 1_048_576;
const OPTIONS = [
  "--no-config",
  "--line-number",
  "--with-filename",
  "--no-heading",
  "--null",
  "--color=never",
  `--max-columns=${MAX_COLUMNS}`,
  "--max-columns-preview",
];

/** Reading a hidden file in the sandbox is an error, which would fail every search of its folder. */
function excluded(hidden: readonly string[], root: string): string[] {
  return hidden
    .filter((path) => isInside(path, root))
    .map((path) => `--glob=!/${relative(root, path).replaceAll(/[\\*?[\]{}!]/g, String.raw`\$&`)}`);
}

function protectedPath(path: string | undefined): ToolwrightError {
  const message = `The path belongs to Toolwright and cannot be searched: ${JSON.stringify(path)}.`;
  return new ToolwrightError("TOOL_PATH_PROTECTED", message, { effect: "none" });
}

function toSearchResult(request: SearchRequest, result: ProcessResult, tier: IsolationTier): SearchResult {
  const { stopped, errors } = result;
  const { output, truncated } = shownMatches(result, request.maxOutputBytes);
  if (stopped === "timeout") {
    const message = `The search timed out after ${request.timeoutMs} ms and was killed.`;
    throw new ToolwrightError("TOOL_TIMEOUT", message, { details: { output, tier }, effect: "none" });
  }
  if (stopped === "abort") {
    const options = { details: { output, tier }, effect: "none", cause: request.signal?.reason } as const;
    throw new ToolwrightError("TOOL_ABORTED", "The call was aborted, and the search was killed.", options);
  }
  const exitCode = result.status.exitCode ?? result.exitCode;
  if (stopped === "flood" || exitCode === 0 || exitCode === 1) return { output, truncated, tier };
  const words = errors.text().trim();
  const message = words === "" ? `ripgrep ended with ${result.signal ?? `exit code ${exitCode}`}.` : words;
  throw new ToolwrightError("TOOL_GREP_FAILED", message, {
    details: { output, exitCode, tier },
    effect: "none",
  });
}

/** Complete lines up to the limit. If some were left out, the last line says so. */
function shownMatches(result: ProcessResult, maxBytes: number): { output: string; truncated: boolean } {
  const isStopped = result.stopped !== undefined;
  const matches = sortMatches(parseMatches(result.output.bytes(), !isStopped));
  const mark = `[… cut at ${maxBytes} bytes: there are more matches; narrow the pattern or the path …]\n`;
  const lines: string[] = [];
  let bytes = 0;
  let isCut = isStopped;
  for (const { shown } of matches) {
    bytes += Buffer.byteLength(shown) + 1;
    if (bytes > maxBytes) {
      isCut = true;
      break;
    }
    lines.push(`${shown}\n`);
  }
  if (!isCut) return { output: lines.join(""), truncated: false };
  // The marker counts towards the limit. If even the marker does not fit, only `truncated` reports it.
  const rest = maxBytes - Buffer.byteLength(mark);
  if (rest < 0) return { output: lines.join(""), truncated: true };
  while (Buffer.byteLength(lines.join("")) > rest) lines.pop();
  return { output: lines.join("") + mark, truncated: true };
}

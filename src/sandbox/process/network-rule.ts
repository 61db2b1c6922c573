/**
 * The documented rule for commands that use the network. It gives a fast and clear error, nothing more. The kernel is
 * the boundary: never rely on this rule to keep a command off the network. Pure.
 */
import { splitScript } from "./shell-words.ts";

export type NetworkVerdict = "TOOL_NETWORK_DISABLED" | "TOOL_GIT_REMOTE_DISABLED" | undefined;

/** Applies to the argv itself and, for a shell, to each command in its script. */
export function judgeNetworkUse(cmd: string, args: readonly string[]): NetworkVerdict {
  return judge([cmd, ...args], 0);
}

const CLIENTS = new Set(["curl", "wget", "npm", "bun", "pip"]);
const GIT_REMOTE = new Set(["push", "pull", "fetch", "clone", "remote"]);
const SHELLS = new Set(["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish"]);
/** Script words that the actual command follows. */
const PREFIXES = new Set(
  "if then elif else while until do ! time exec command builtin eval env nohup sudo nice".split(" "),
);
const MAX_DEPTH = 4;

function judge(words: readonly string[], depth: number): NetworkVerdict {
  const program = basenameOf(words[0] ?? "");
  if (CLIENTS.has(program)) return "TOOL_NETWORK_DISABLED";
  if (words.some((word) => /^https?:\/\//i.test(word))) return "TOOL_NETWORK_DISABLED";
  if (program === "git" && words.some((word) => GIT_REMOTE.has(word))) return "TOOL_GIT_REMOTE_DISABLED";
  const script = SHELLS.has(program) ? scriptOf(words.slice(1)) : undefined;
  if (script === undefined || depth >= MAX_DEPTH) return undefined;
  for (const command of splitScript(script)) {
    const verdict = judge(withoutPrefixes(command), depth + 1);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

/** The word after the options that include `c`, as in `-c`, `-lc`, `-euo pipefail -c`. */
function scriptOf(args: readonly string[]): string | undefined {
  const flag = args.findIndex((arg) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(arg));
  if (flag === -1) return undefined;
  return args.slice(flag + 1).find((arg) => !/^[-+]/.test(arg) && arg !== "pipefail");
}

function withoutPrefixes(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !PREFIXES.has(word) && !/^[A-Za-z_]\w*=/.test(word));
  return start === -1 ? [] : words.slice(start);
}

function basenameOf(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

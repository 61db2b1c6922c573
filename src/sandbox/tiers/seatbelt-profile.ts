/**
 * The profile for macOS's `/usr/bin/sandbox-exec`. Generated and tested as text only, because no macOS machine was
 * available. Later rules win, so the order is: allow, deny, allow the root again, deny the protected paths in it.
 */
import type { Protection } from "../protection/protection-plan.ts";

export interface SeatbeltRequest {
  readonly root: string;
  readonly rootReadOnly: boolean;
  readonly home: string;
  readonly allowNetwork: boolean;
  readonly readOnly: readonly string[];
  readonly protections: readonly Pick<Protection, "kind" | "path">[];
}

export function seatbeltProfile(request: SeatbeltRequest): string {
  const { root, rootReadOnly, home, allowNetwork, readOnly, protections } = request;
  const rules = [
    "(version 1)",
    "(allow default)",
    ...(allowNetwork ? [] : ["(deny network*)"]),
    "(deny process-info* (target others))",
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    '(deny mach-lookup (global-name-prefix "com.apple.launchd"))',
    "(deny job-creation)",
    "(deny file-write*)",
    ...["/dev/null", "/dev/zero", "/dev/tty"].map((path) => `(allow file-write* (literal ${quote(path)}))`),
    ...["/Users", "/private/tmp", "/private/var/folders", home].map(
      (path) => `(deny file-read* ${below(path)})`,
    ),
    ...readOnly.map((path) => `(allow file-read* ${below(path)})`),
    `(allow file-read* ${below(root)})`,
    // Programs stat each parent of their working directory.
    ...parentsOf(root).map((path) => `(allow file-read-metadata (literal ${quote(path)}))`),
    ...(rootReadOnly ? [] : [`(allow file-write* ${below(root)})`]),
    ...protections.flatMap(({ kind, path }) => {
      if (kind === "pin") return [`(deny file-write-unlink (literal ${quote(path)}))`];
      if (kind === "readOnly") return [`(deny file-write* ${below(path)})`];
      return [`(deny file-read* file-write* ${below(path)})`];
    }),
    `(deny file-write* (regex ${quote(`^${escapeRegex(root)}/(\\.toolwright(/|$)|toolwright\\.config\\.)`)}))`,
  ];
  return rules.join("\n");
}

/** A profile is Scheme text: a quote or a backslash in a path must not end the string. */
function quote(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function below(path: string): string {
  return `(subpath ${quote(path)})`;
}

function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
}

/** `Call` and `Progress` state which stage writes each field. This compares the comments with all assignments. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { expect, test } from "vitest";

const SOURCE = resolve(import.meta.dirname, "../../src");
const DECLARATIONS = ["invoke/call.ts", "invoke/call-progress.ts"];

/** Comments call these files by what they are. */
const WRITERS: Readonly<Record<string, string>> = {
  "invoke/call-identity.ts": "identify",
  "invoke/scope.ts": "Scope.fail",
  "invoke/wait-graph.ts": "journal",
  "invoke/tool-context.ts": "By the tool's context|Set by the tool's context",
  "builtin/settings.ts": "By the built-in tools",
  "invoke/call-notes.ts": "approve",
};

/** The comments that apply to each field: the one of its group, and its own. */
function commentsOfFields(): Map<string, string> {
  const comments = new Map<string, string>();
  for (const path of DECLARATIONS) {
    let [group, own] = ["", ""];
    for (const line of readFileSync(join(SOURCE, path), "utf8").split("\n")) {
      if (line.startsWith("  // Written")) group = line;
      else if (/^ {2}(?:\/\*\*| \*)/.test(line)) own += line;
      const field = /^ {2}(?:readonly )?(\w+)(?:: [^(]+)?(?: =|;)/.exec(line)?.[1];
      if (field === undefined) continue;
      comments.set(field, `${group} ${own}`);
      own = "";
    }
  }
  return comments;
}

/** Each assignment to a field of a call, outside of `Call` itself. */
function assignments(): { field: string; path: string }[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  const sources = files.filter((path) => /(?<!\.test)\.ts$/.test(path) && !DECLARATIONS.includes(path));
  return sources.flatMap((path) =>
    [
      ...readFileSync(join(SOURCE, path), "utf8").matchAll(
        /\b(?:call|caller|outer|parent)\.(\w+) (?:[+-]|&&|\|\||\?\?)?= /g,
      ),
    ].map(([, field = ""]) => ({ field, path })),
  );
}

test("every assignment to a field of a call is by a stage that its comment names", () => {
  const comments = commentsOfFields();
  const found = assignments().filter(({ field }) => comments.has(field));
  expect(found.length).toBeGreaterThan(40);
  const unnamed = found.filter(({ field, path }) => {
    const names =
      WRITERS[path] ??
      (path.includes("/journal/") ? `journal|${basename(path, ".ts")}` : basename(path, ".ts"));
    return !new RegExp(names).test(comments.get(field) ?? "");
  });
  expect(unnamed).toEqual([]);
});

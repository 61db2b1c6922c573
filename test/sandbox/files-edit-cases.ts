/**
 * Cases about patches: which are applied, and which are refused without any change.
 */
import type { FileCase } from "./files-case-runner.ts";

const HEADER = "--- a/f.txt\n+++ b/f.txt\n";
const HUNK = "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n";
const FIVE = "a\nb\nc\nd\ne\n";

function applied(id: string, before: string, patch: string, after: string): FileCase {
  return edit(id, before, patch, { outcome: "ok", content: { "f.txt": after }, mode: { "f.txt": "644" } });
}

function refused(id: string, before: string, patch: unknown, code = "TOOL_PATCH_FAILED"): FileCase {
  return edit(id, before, patch, { outcome: "error", code, content: { "f.txt": before } });
}

function edit(id: string, before: string, patch: unknown, expected: FileCase["expected"]): FileCase {
  return {
    id: `edit-${id}`,
    tool: "edit",
    input: { path: "f.txt", patch },
    files: { "f.txt": before },
    expected,
  };
}

const CHANGED = "a\nb\nC\nd\ne\n";
const crlf = (text: string): string => text.replaceAll("\n", "\r\n");

export const EDIT_CASES: readonly FileCase[] = [
  applied("plain", FIVE, HEADER + HUNK, CHANGED),
  applied("no-header", FIVE, HUNK, CHANGED),
  applied(
    "git-header",
    FIVE,
    `diff --git a/f.txt b/f.txt\nindex 1234567..89abcde 100644\n${HEADER}${HUNK}`,
    CHANGED,
  ),
  applied(
    "index-header",
    FIVE,
    `Index: f.txt\n${"=".repeat(67)}\n--- f.txt\t(old)\n+++ f.txt\t(new)\n${HUNK}`,
    CHANGED,
  ),
  applied("no-prefix", FIVE, `--- f.txt\n+++ f.txt\n${HUNK}`, CHANGED),
  applied("section-heading", FIVE, HUNK.replace("@@\n", "@@ function f() {\n"), CHANGED),
  applied("no-final-newline-of-patch", FIVE, HUNK.trimEnd(), CHANGED),
  applied("blank-lines-around", FIVE, `\n\n${HUNK}\n\n`, CHANGED),
  applied("fenced", FIVE, `\`\`\`diff\n${HEADER}${HUNK}\`\`\`\n`, CHANGED),
  applied("other-line", FIVE, HUNK.replace("-2,3", "-50,3"), CHANGED),
  applied("line-zero", FIVE, HUNK.replace("-2,3", "-0,3"), CHANGED),
  applied("two-hunks", FIVE, "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4,2 +4,2 @@\n d\n-e\n+E\n", "A\nb\nc\nd\nE\n"),
  applied(
    "adjacent-hunks",
    FIVE,
    "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -3,1 +3,1 @@\n-c\n+C\n",
    "A\nb\nC\nd\ne\n",
  ),
  applied(
    "both-hunks-moved",
    `0\n0\n${FIVE}`,
    "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4,2 +4,2 @@\n d\n-e\n+E\n",
    "0\n0\nA\nb\nc\nd\nE\n",
  ),
  applied("insert-at-top", FIVE, "@@ -1,1 +1,2 @@\n+0\n a\n", `0\n${FIVE}`),
  applied("append", FIVE, "@@ -5,1 +5,2 @@\n e\n+f\n", `${FIVE}f\n`),
  applied("insert-without-context", FIVE, "@@ -2,0 +3 @@\n+x\n", "a\nb\nx\nc\nd\ne\n"),
  applied("into-empty-file", "", "@@ -0,0 +1,2 @@\n+x\n+y\n", "x\ny\n"),
  applied("remove-all-lines", FIVE, "@@ -1,5 +0,0 @@\n-a\n-b\n-c\n-d\n-e\n", ""),
  applied("stripped-blank-context", "a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n"),
  applied("removed-line-looks-like-header", "-- x\n++ y\nz\n", "@@ -1,3 +1,1 @@\n--- x\n-++ y\n z\n", "z\n"),
  applied(
    "added-line-looks-like-header",
    "z\n",
    "@@ -1 +1,3 @@\n z\n+++ y\n+@@ -1 +1 @@\n",
    "z\n++ y\n@@ -1 +1 @@\n",
  ),
  applied("repeated-at-stated-line", "x\nx\nx\n", "@@ -2 +2 @@\n-x\n+y\n", "x\ny\nx\n"),
  applied("crlf-file", crlf(FIVE), HUNK, crlf(CHANGED)),
  applied("crlf-patch", FIVE, crlf(HEADER + HUNK), CHANGED),
  applied("crlf-both", crlf(FIVE), crlf(HEADER + HUNK), crlf(CHANGED)),
  applied("crlf-body-only", crlf(FIVE), "@@ -2,3 +2,3 @@\n b\r\n-c\r\n+C\r\n d\r\n", crlf(CHANGED)),
  applied("crlf-append", crlf(FIVE), "@@ -5 +5,2 @@\n e\n+f\n", crlf(`${FIVE}f\n`)),
  applied("mixed-endings", "a\nb\r\nc\r\nd\n", HUNK, "a\nb\r\nC\r\nd\n"),
  applied("ending-changed-on-purpose", "a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n", "a\nb\r\n"),
  applied("bom", `\ufeff${FIVE}`, "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "\ufeffA\nb\nc\nd\ne\n"),
  applied(
    "bom-in-patch",
    `\ufeff${FIVE}`,
    "@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffA\n b\n",
    "\ufeffA\nb\nc\nd\ne\n",
  ),
  applied("no-eof-newline-unmarked", "a\nb\nc", "@@ -2,2 +2,2 @@\n b\n-c\n+C\n", "a\nb\nC"),
  applied(
    "no-eof-newline-marked",
    "a\nc",
    "@@ -1,2 +1,2 @@\n a\n-c\n\\ No newline at end of file\n+C\n\\ No newline at end of file\n",
    "a\nC",
  ),
  applied(
    "eof-newline-added",
    "a\nc",
    "@@ -1,2 +1,2 @@\n a\n-c\n\\ No newline at end of file\n+c\n",
    "a\nc\n",
  ),
  applied(
    "eof-newline-removed",
    "a\nc\n",
    "@@ -1,2 +1,2 @@\n a\n-c\n+c\n\\ No newline at end of file\n",
    "a\nc",
  ),
  applied("append-behind-no-newline", "a\nb", "@@ -2 +2,2 @@\n b\n+c\n", "a\nb\nc"),
  applied("insert-behind-no-newline", "a\nb", "@@ -2,0 +3 @@\n+c\n", "a\nb\nc"),
  applied("no-eof-newline-untouched", "a\nb\nc", "@@ -1 +1 @@\n-a\n+A\n", "A\nb\nc"),
  applied("multi-byte", "ä\n🦊\n", "@@ -1,2 +1,2 @@\n-ä\n+ö\n 🦊\n", "ö\n🦊\n"),

  refused("empty-patch", FIVE, ""),
  refused("blank-patch", FIVE, " \n\t\n"),
  refused("garbage", FIVE, "hello world"),
  refused("header-only", FIVE, HEADER),
  refused("prose-before", FIVE, `Here is the patch:\n${HUNK}`),
  refused("prose-after", FIVE, `${HUNK}Done.\n`),
  refused("codex-format", FIVE, "*** Begin Patch\n*** Update File: f.txt\n@@\n-c\n+C\n*** End Patch\n"),
  refused("no-numbers", FIVE, "@@ @@\n b\n-c\n+C\n d\n"),
  refused("huge-numbers", FIVE, `@@ -${"9".repeat(40)},3 +2,3 @@\n b\n-c\n+C\n d\n`),
  refused("normal-diff", FIVE, "3c3\n< c\n---\n> C\n"),
  refused("context-diff", FIVE, "*** f.txt\n--- f.txt\n***************\n*** 3 ****\n! c\n--- 3 ----\n! C\n"),
  refused("count-too-small", FIVE, "@@ -2,2 +2,2 @@\n b\n-c\n+C\n d\n"),
  refused("count-too-large", FIVE, "@@ -2,9 +2,9 @@\n b\n-c\n+C\n d\n"),
  refused("line-without-mark", FIVE, "@@ -2,3 +2,3 @@\n b\n-c\n+C\nd\n"),
  refused("no-change", FIVE, "@@ -2,2 +2,2 @@\n b\n c\n"),
  refused("change-to-the-same", FIVE, "@@ -3 +3 @@\n-c\n+c\n"),
  refused("context-differs", FIVE, "@@ -2,3 +2,3 @@\n b\n-c\n+C\n D\n"),
  refused("blank-differs", FIVE, "@@ -2,3 +2,3 @@\n b\n-c \n+C\n d\n"),
  refused("already-applied", CHANGED, HUNK),
  refused("ambiguous", "x\ny\nx\ny\n", "@@ -9,2 +9,2 @@\n x\n-y\n+Y\n"),
  refused("out-of-order", FIVE, "@@ -4,2 +4,2 @@\n d\n-e\n+E\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n"),
  refused("overlap", FIVE, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -3,2 +3,2 @@\n-c\n+C\n d\n"),
  refused("same-hunk-twice", FIVE, HUNK + HUNK),
  refused("one-hunk-of-two-fails", FIVE, "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4,2 +4,2 @@\n d\n-X\n+E\n"),
  refused("insert-without-context-too-far", FIVE, "@@ -50,0 +51 @@\n+x\n"),
  refused("two-files", FIVE, `${HEADER}${HUNK}--- a/g.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-a\n+b\n`),
  refused(
    "two-files-git",
    FIVE,
    `diff --git a/f.txt b/f.txt\n${HEADER}${HUNK}diff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n`,
  ),
  refused("other-file", FIVE, `--- a/other.txt\n+++ b/other.txt\n${HUNK}`),
  refused("other-new-file", FIVE, `--- a/f.txt\n+++ b/g.txt\n${HUNK}`),
  refused("other-folder", FIVE, `--- a/x/f.txt\n+++ b/x/f.txt\n${HUNK}`),
  refused("traversal", FIVE, `--- a/../../etc/passwd\n+++ b/../../etc/passwd\n${HUNK}`),
  refused("other-file-git-line", FIVE, `diff --git a/f.txt b/../../evil\n${HEADER}${HUNK}`),
  refused("other-file-index-line", FIVE, `Index: g.txt\n${HEADER}${HUNK}`),
  refused("half-header", FIVE, `--- a/f.txt\n${HUNK}`),
  refused("create", FIVE, "--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+x\n"),
  refused("create-git", FIVE, `diff --git a/f.txt b/f.txt\nnew file mode 100644\n${HEADER}${HUNK}`),
  refused("delete", FIVE, "--- a/f.txt\n+++ /dev/null\n@@ -1,5 +0,0 @@\n-a\n-b\n-c\n-d\n-e\n"),
  refused("delete-git", FIVE, `diff --git a/f.txt b/f.txt\ndeleted file mode 100644\n${HEADER}${HUNK}`),
  refused("rename", FIVE, `diff --git a/f.txt b/g.txt\nrename from f.txt\nrename to g.txt\n${HEADER}${HUNK}`),
  refused("copy", FIVE, `diff --git a/f.txt b/f.txt\ncopy from f.txt\ncopy to g.txt\n${HEADER}${HUNK}`),
  refused("mode", FIVE, `diff --git a/f.txt b/f.txt\nold mode 100644\nnew mode 100755\n${HEADER}${HUNK}`),
  refused("binary", FIVE, "diff --git a/f.txt b/f.txt\nBinary files a/f.txt and b/f.txt differ\n"),
  refused("marker-but-newline", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-c\n\\ No newline at end of file\n+C\n"),
  refused("marker-mid-hunk", "a\nb", "@@ -1,2 +1,2 @@\n a\n\\ No newline at end of file\n-b\n+c\n"),
  refused("marker-not-at-end", FIVE, "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n"),
  refused("patch-too-large", FIVE, 'js: "x".repeat(200001)', "TOOL_PATCH_TOO_LARGE"),
  refused(
    "result-too-large",
    `${"x".repeat(199_990)}\n`,
    `@@ -1,0 +2 @@\n+${"y".repeat(100)}\n`,
    "TOOL_CONTENT_TOO_LARGE",
  ),
  refused("file-too-large", `${"x".repeat(200_000)}\n`, "@@ -2,0 +3 @@\n+y\n", "TOOL_FILE_TOO_LARGE"),
  refused("patch-of-number", FIVE, 7, "TOOL_INPUT_INVALID"),
  {
    id: "edit-latin-1",
    tool: "edit",
    input: { path: "f.txt", patch: "@@ -2 +2 @@\n-b\n+B\n" },
    setup: ["printf 'caf\\xe9\\nb\\n' > $ROOT/f.txt"],
    expected: { outcome: "error", code: "TOOL_NOT_TEXT" },
  },
  {
    id: "edit-mode-kept",
    tool: "edit",
    input: { path: "f.txt", patch: HUNK },
    setup: ["printf 'a\\nb\\nc\\nd\\n' > $ROOT/f.txt; chmod 750 $ROOT/f.txt"],
    expected: { outcome: "ok", mode: { "f.txt": "750" } },
  },
  {
    id: "edit-header-of-subfolder",
    tool: "edit",
    input: { path: "src/f.txt", patch: HEADER.replaceAll("/f", "/src/f") + HUNK },
    setup: ["mkdir $ROOT/src; printf 'a\\nb\\nc\\nd\\n' > $ROOT/src/f.txt"],
    expected: { outcome: "ok", content: { "src/f.txt": "a\nb\nC\nd\n" } },
  },
  {
    id: "edit-git-config",
    tool: "edit",
    input: { path: ".git/config", patch: "@@ -1 +1 @@\n-a\n+b\n" },
    setup: ["mkdir $ROOT/.git; printf 'a\\n' > $ROOT/.git/config"],
    expected: { outcome: "error", code: "TOOL_PATH_PROTECTED" },
  },
];

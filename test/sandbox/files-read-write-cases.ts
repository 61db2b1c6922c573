/**
 * Cases about sizes, encodings and protected paths.
 */
import type { FileCase } from "./files-case-runner.ts";

function read(id: string, setup: string, answer: Partial<FileCase["expected"]>, input = {}): FileCase {
  const outcome = answer.code === undefined ? "ok" : "error";
  return {
    id: `read-${id}`,
    tool: "read",
    input: { path: "f", ...input },
    setup: [setup],
    expected: { outcome, maxMs: 2000, ...answer },
  };
}

function write(
  id: string,
  input: Readonly<Record<string, unknown>>,
  setup: string,
  answer: Partial<FileCase["expected"]>,
): FileCase {
  const outcome = answer.code === undefined ? "ok" : "error";
  return { id: `write-${id}`, tool: "write", input, setup: [setup], expected: { outcome, ...answer } };
}

const TOO_LARGE = { code: "TOOL_FILE_TOO_LARGE" };
const PROTECTED = { code: "TOOL_PATH_PROTECTED" };
const tenLines = "seq 10 > $ROOT/f";

export const READ_AND_WRITE_CASES: readonly FileCase[] = [
  read("empty", "touch $ROOT/f", { output: "" }),
  read("bom", "printf '\\xef\\xbb\\xbfa\\n' > $ROOT/f", { output: "\ufeffa\n" }),
  read("crlf", "printf 'a\\r\\nb' > $ROOT/f", { output: "a\r\nb" }),
  read("nul-byte", "printf 'a\\0b' > $ROOT/f", { output: "a\0b" }),
  read("multi-byte", "printf '🦊ü\\n' > $ROOT/f", { output: "🦊ü\n" }),
  read("latin-1", "printf 'caf\\xe9\\n' > $ROOT/f", { code: "TOOL_NOT_TEXT" }),
  read("cut-character", "printf 'a\\xf0\\x9f\\xa6' > $ROOT/f", { code: "TOOL_NOT_TEXT" }),
  read("utf-16", "printf '\\xff\\xfea\\0' > $ROOT/f", { code: "TOOL_NOT_TEXT" }),
  read("surrogate-bytes", "printf '\\xed\\xa0\\x80' > $ROOT/f", { code: "TOOL_NOT_TEXT" }),
  read("exact-limit", "head -c 200000 /dev/zero | tr '\\0' a > $ROOT/f", { output: "a".repeat(200_000) }),
  read("one-over-limit", "head -c 200001 /dev/zero | tr '\\0' a > $ROOT/f", TOO_LARGE),
  read("sparse-1tb", "truncate -s 1T $ROOT/f", TOO_LARGE),
  read(
    "sparse-1tb-part",
    "truncate -s 1T $ROOT/f; printf 'a\\nb\\n' | dd of=$ROOT/f conv=notrunc 2>&1",
    { output: "b\n" },
    { offset: 2, limit: 1 },
  ),
  read("part-middle", tenLines, { output: "3\n4\n" }, { offset: 3, limit: 2 }),
  read("part-from", tenLines, { output: "9\n10\n" }, { offset: 9 }),
  read("part-limit-only", tenLines, { output: "1\n" }, { limit: 1 }),
  read("part-over-the-end", tenLines, { output: "10\n" }, { offset: 10, limit: 99 }),
  read("part-behind-the-end", tenLines, { output: "" }, { offset: 11, limit: 5 }),
  read("part-no-last-newline", "printf 'a\\nb' > $ROOT/f", { output: "b" }, { offset: 2 }),
  read("part-of-empty", "touch $ROOT/f", { output: "" }, { offset: 1 }),
  read(
    "part-of-large",
    "seq 1000000 > $ROOT/f",
    { output: "999999\n1000000\n" },
    { offset: 999_999, limit: 5 },
  ),
  read("part-too-large", "seq 1000000 > $ROOT/f", TOO_LARGE, { offset: 2 }),
  read("part-line-too-large", "head -c 300000 /dev/zero | tr '\\0' a > $ROOT/f", TOO_LARGE, { limit: 1 }),
  read("part-latin-1-elsewhere", "printf 'caf\\xe9\\nb\\n' > $ROOT/f", { output: "b\n" }, { offset: 2 }),
  read("part-latin-1", "printf 'caf\\xe9\\nb\\n' > $ROOT/f", { code: "TOOL_NOT_TEXT" }, { limit: 1 }),
  read("part-of-fifo", "mkfifo $ROOT/f", { code: "TOOL_NOT_A_FILE" }, { offset: 1 }),
  read("offset-zero", tenLines, { code: "TOOL_INPUT_INVALID" }, { offset: 0 }),
  read("offset-negative", tenLines, { code: "TOOL_INPUT_INVALID" }, { offset: -1 }),
  read("offset-fraction", tenLines, { code: "TOOL_INPUT_INVALID" }, { offset: 1.5 }),
  read("limit-zero", tenLines, { code: "TOOL_INPUT_INVALID" }, { limit: 0 }),
  read("limit-text", tenLines, { code: "TOOL_INPUT_INVALID" }, { limit: "3" }),

  write("exact-limit", { path: "a", content: 'js: "x".repeat(200000)' }, "true", { exists: ["a"] }),
  write("over-limit", { path: "a", content: 'js: "x".repeat(200001)' }, "true", {
    code: "TOOL_CONTENT_TOO_LARGE",
  }),
  write("over-limit-in-bytes", { path: "a/b", content: 'js: "ü".repeat(100001)' }, "true", {
    code: "TOOL_CONTENT_TOO_LARGE",
  }),
  write("over-limit-bad-path", { path: "../x", content: 'js: "x".repeat(200001)' }, "true", {
    code: "TOOL_CONTENT_TOO_LARGE|TOOL_PATH_ESCAPE",
  }),
  write("empty", { path: "a", content: "" }, "printf x > $ROOT/a", { content: { a: "" } }),
  write("non-string", { path: "a", content: 1 }, "true", { code: "TOOL_INPUT_INVALID" }),
  write("surrogate", { path: "a", content: "\ud800" }, "true", { code: "TOOL_NOT_TEXT" }),
  write("multi-byte", { path: "a", content: "🦊\u0000ü\r\n" }, "true", { content: { a: "🦊\u0000ü\r\n" } }),
  write("mode-of-new", { path: "a", content: "" }, "umask 022", { mode: { a: "644" } }),
  write("mode-kept", { path: "a", content: "x" }, "touch $ROOT/a; chmod 755 $ROOT/a", { mode: { a: "755" } }),
  write("mode-private-kept", { path: "a", content: "x" }, "touch $ROOT/a; chmod 600 $ROOT/a", {
    mode: { a: "600" },
  }),
  write("through-link-keeps-it", { path: "l", content: "x" }, "touch $ROOT/t; ln -s t $ROOT/l", {
    content: { t: "x", l: "x" },
  }),
  write("parents-through-link-in", { path: "l/a/b", content: "x" }, "mkdir $ROOT/d; ln -s d $ROOT/l", {
    content: { "d/a/b": "x" },
  }),
  write("parents-through-link-out", { path: "l/a/b", content: "x" }, "ln -s $OUT $ROOT/l", {
    code: "TOOL_PATH_ESCAPE",
  }),
  write("over-directory", { path: "d", content: "x" }, "mkdir $ROOT/d", { code: "TOOL_NOT_A_FILE" }),

  write("git-hook", { path: ".git/hooks/pre-commit", content: "x" }, "git init -q $ROOT", PROTECTED),
  write("git-hook-no-repository", { path: ".git/hooks/pre-commit", content: "x" }, "true", PROTECTED),
  write("git-hook-nested", { path: "v/.git/hooks/post-checkout", content: "x" }, "mkdir $ROOT/v", PROTECTED),
  write("git-config", { path: ".git/config", content: "x" }, "git init -q $ROOT", PROTECTED),
  write("git-config-case", { path: ".GIT/Config", content: "x" }, "true", PROTECTED),
  write("git-config-dots", { path: "a/../.git/./config", content: "x" }, "git init -q $ROOT", PROTECTED),
  write("git-config-abs", { path: "{ROOT}/.git/config", content: "x" }, "git init -q $ROOT", PROTECTED),
  write(
    "git-config-link",
    { path: "l", content: "x" },
    "git init -q $ROOT; ln -s .git/config $ROOT/l",
    PROTECTED,
  ),
  write(
    "git-link-dir",
    { path: "l/hooks/x", content: "x" },
    "git init -q $ROOT; ln -s .git $ROOT/l",
    PROTECTED,
  ),
  write(
    "git-link-dir-new-folder",
    { path: "l/hooks/n/x", content: "x" },
    "git init -q $ROOT; ln -s .git $ROOT/l",
    PROTECTED,
  ),
  write(
    "git-hooks-are-a-link",
    { path: "own/x", content: "x" },
    "git init -q $ROOT; mkdir $ROOT/own; rm -r $ROOT/.git/hooks; ln -s ../own $ROOT/.git/hooks",
    PROTECTED,
  ),
  write("git-file", { path: ".git", content: "gitdir: evil" }, "true", PROTECTED),
  write("git-zero-width", { path: ".g\u200cit/config", content: "x" }, "true", PROTECTED),
  write("git-other", { path: ".git/info/exclude", content: "x" }, "git init -q $ROOT", {
    content: { ".git/info/exclude": "x" },
  }),
  write("gitignore", { path: ".gitignore", content: "x" }, "true", { content: { ".gitignore": "x" } }),
  write("github", { path: ".github/config", content: "x" }, "true", { content: { ".github/config": "x" } }),
  write("hooks-elsewhere", { path: "src/hooks/config", content: "x" }, "true", {
    content: { "src/hooks/config": "x" },
  }),
  write("toolwright-folder", { path: ".toolwright/capabilities.md", content: "x" }, "true", PROTECTED),
  write(
    "toolwright-folder-link",
    { path: "l/capabilities.md", content: "x" },
    "mkdir $ROOT/.toolwright; ln -s .toolwright $ROOT/l",
    PROTECTED,
  ),
  write("toolwright-config", { path: "toolwright.config.ts", content: "x" }, "true", PROTECTED),
  write("toolwright-config-case", { path: "Toolwright.Config.MJS", content: "x" }, "true", PROTECTED),
  write("toolwright-named", { path: "toolwright.md", content: "x" }, "true", {
    content: { "toolwright.md": "x" },
  }),
];

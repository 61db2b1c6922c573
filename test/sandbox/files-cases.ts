/**
 * Our own cases for the file tools: every kind of path with each of the three tools, then cases of a single tool.
 */
import type { FileCase } from "./files-case-runner.ts";

interface PathKind {
  readonly kind: string;
  readonly path: unknown;
  readonly setup?: string;
  /** The outcome of read and edit; a file that can be read holds `OUTSIDE-SECRET`. */
  readonly use: string;
  /** The outcome of write; `"ok"` if both it and `use` are omitted. */
  readonly write?: string;
}

const SECRET = 'printf "OUTSIDE-SECRET\\n"';
const ESCAPE = "TOOL_PATH_ESCAPE";
const MISSING = "TOOL_FILE_NOT_FOUND";
const NOT_A_FILE = "TOOL_NOT_A_FILE";
const NOT_A_FOLDER = "TOOL_NOT_A_DIRECTORY";
const INVALID = "TOOL_PATH_INVALID";

const PATH_KINDS: readonly PathKind[] = [
  { kind: "dotdot", path: "../out/secret.txt", use: ESCAPE },
  { kind: "dotdot-only", path: "..", use: ESCAPE },
  { kind: "dotdot-many", path: `${"../".repeat(60)}etc/passwd`, use: ESCAPE },
  { kind: "dotdot-mid", path: "a/../../out/secret.txt", setup: "mkdir $ROOT/a", use: ESCAPE },
  { kind: "dotdot-behind-missing", path: "no/../../out/secret.txt", use: ESCAPE },
  { kind: "dotdot-back-inside", path: "../root/in.txt", setup: `${SECRET} > $ROOT/in.txt`, use: "ok" },
  { kind: "abs-outside", path: "/etc/passwd", use: ESCAPE },
  { kind: "abs-root-of-all", path: "/", use: ESCAPE },
  { kind: "abs-inside", path: "{ROOT}/in.txt", setup: `${SECRET} > $ROOT/in.txt`, use: "ok" },
  { kind: "abs-inside-out", path: "{ROOT}/../out/secret.txt", use: ESCAPE },
  { kind: "double-slash", path: "d//in.txt", setup: `mkdir $ROOT/d; ${SECRET} > $ROOT/d/in.txt`, use: "ok" },
  { kind: "double-slash-start", path: "//etc/passwd", use: ESCAPE },
  {
    kind: "prefix-sibling",
    path: "{ROOT}-evil/secret.txt",
    setup: "mkdir $ROOT-evil; cp $OUT/secret.txt $ROOT-evil/",
    use: ESCAPE,
  },
  { kind: "link-file", path: "l", setup: "ln -s $OUT/secret.txt $ROOT/l", use: ESCAPE },
  { kind: "link-dir", path: "l/secret.txt", setup: "ln -s $OUT $ROOT/l", use: ESCAPE },
  {
    kind: "link-rel",
    path: "d/l",
    setup: "mkdir $ROOT/d; ln -s ../../out/secret.txt $ROOT/d/l",
    use: ESCAPE,
  },
  {
    kind: "link-chain",
    path: "l1",
    setup: "ln -s l2 $ROOT/l1; ln -s l3 $ROOT/l2; ln -s $OUT/secret.txt $ROOT/l3",
    use: ESCAPE,
  },
  { kind: "link-to-parent", path: "l/out/secret.txt", setup: "ln -s .. $ROOT/l", use: ESCAPE },
  { kind: "link-to-slash", path: "l/etc/passwd", setup: "ln -s / $ROOT/l", use: ESCAPE },
  {
    kind: "link-abs-dotdot",
    path: "l",
    setup: "ln -s $ROOT/../out/secret.txt $ROOT/l",
    use: ESCAPE,
  },
  {
    kind: "link-behind-link",
    path: "in/up/secret.txt",
    setup: "mkdir -p $ROOT/a/b; ln -s a/b $ROOT/in; ln -s ../../../out $ROOT/a/b/up",
    use: ESCAPE,
  },
  { kind: "link-prefix-sibling", path: "l", setup: "mkdir $ROOT-x; ln -s $ROOT-x/f $ROOT/l", use: ESCAPE },
  { kind: "link-dangling-out", path: "l", setup: "ln -s $OUT/new.txt $ROOT/l", use: ESCAPE },
  { kind: "link-dangling-out-dir", path: "l/x", setup: "ln -s $OUT/newdir $ROOT/l", use: ESCAPE },
  { kind: "link-dangling-in", path: "l", setup: "ln -s new.txt $ROOT/l", use: MISSING, write: "ok" },
  { kind: "link-dangling-in-dir", path: "l/x", setup: "ln -s newdir $ROOT/l", use: MISSING, write: "ok" },
  { kind: "link-inside", path: "l", setup: `${SECRET} > $ROOT/t; ln -s t $ROOT/l`, use: "ok" },
  { kind: "link-inside-abs", path: "l", setup: `${SECRET} > $ROOT/t; ln -s $ROOT/t $ROOT/l`, use: "ok" },
  {
    kind: "link-inside-dir",
    path: "l/t",
    setup: `mkdir -p $ROOT/a/b; ${SECRET} > $ROOT/a/b/t; ln -s a/b $ROOT/l`,
    use: "ok",
  },
  {
    kind: "link-inside-up",
    path: "a/b/l",
    setup: `mkdir -p $ROOT/a/b; ${SECRET} > $ROOT/t; ln -s ../../t $ROOT/a/b/l`,
    use: "ok",
  },
  {
    kind: "link-up-behind-link",
    path: "l/up",
    setup: `mkdir -p $ROOT/a/b; ${SECRET} > $ROOT/a/t; ln -s a/b $ROOT/l; ln -s ../t $ROOT/a/b/up`,
    use: "ok",
  },
  { kind: "link-out-and-in", path: "l", setup: `${SECRET} > $ROOT/t; ln -s ../root/t $ROOT/l`, use: "ok" },
  { kind: "link-inside-to-dir", path: "l", setup: "mkdir $ROOT/d; ln -s d $ROOT/l", use: NOT_A_FILE },
  { kind: "link-file-as-dir", path: "l/x", setup: "touch $ROOT/t; ln -s t $ROOT/l", use: NOT_A_FOLDER },
  { kind: "link-trailing-slash", path: "l", setup: "touch $ROOT/t; ln -s t/ $ROOT/l", use: NOT_A_FOLDER },
  { kind: "link-loop", path: "l", setup: "ln -s l $ROOT/l", use: INVALID },
  { kind: "link-loop-two", path: "a/x", setup: "ln -s b $ROOT/a; ln -s a $ROOT/b", use: INVALID },
  {
    kind: "link-41",
    path: "l1",
    setup: "for i in $(seq 41); do ln -s l$((i+1)) $ROOT/l$i; done; touch $ROOT/l42",
    use: INVALID,
  },
  {
    kind: "link-40",
    path: "l1",
    setup: `for i in $(seq 40); do ln -s l$((i+1)) $ROOT/l$i; done; ${SECRET} > $ROOT/l41`,
    use: "ok",
  },
  { kind: "link-proc-fd", path: "l/0", setup: "ln -s /proc/self/fd $ROOT/l", use: ESCAPE },
  { kind: "link-proc-root", path: "l/etc/passwd", setup: "ln -s /proc/self/root $ROOT/l", use: ESCAPE },
  { kind: "link-proc-cwd", path: "l/package.json", setup: "ln -s /proc/self/cwd $ROOT/l", use: ESCAPE },
  { kind: "link-dev-zero", path: "l", setup: "ln -s /dev/zero $ROOT/l", use: ESCAPE },
  { kind: "proc-environ", path: "/proc/self/environ", use: ESCAPE },
  { kind: "proc-root", path: "/proc/self/root/etc/passwd", use: ESCAPE },
  { kind: "proc-cwd", path: "/proc/self/cwd/x", use: ESCAPE },
  { kind: "dev-stdin", path: "/dev/stdin", use: ESCAPE },
  { kind: "dev-fd", path: "/dev/fd/0", use: ESCAPE },
  { kind: "dev-null", path: "/dev/null", use: ESCAPE },
  { kind: "fifo", path: "fifo", setup: "mkfifo $ROOT/fifo", use: NOT_A_FILE },
  { kind: "fifo-as-dir", path: "fifo/x", setup: "mkfifo $ROOT/fifo", use: NOT_A_FOLDER },
  { kind: "link-to-fifo", path: "l", setup: "mkfifo $ROOT/fifo; ln -s fifo $ROOT/l", use: NOT_A_FILE },
  { kind: "socket", path: "s.sock", use: NOT_A_FILE },
  { kind: "directory", path: "d", setup: "mkdir $ROOT/d", use: NOT_A_FILE },
  { kind: "directory-slash", path: "d/", setup: "mkdir $ROOT/d", use: NOT_A_FILE },
  { kind: "dot", path: ".", use: NOT_A_FILE },
  { kind: "dot-slash", path: "./", use: NOT_A_FILE },
  { kind: "root-itself", path: "{ROOT}", use: NOT_A_FILE },
  { kind: "down-and-up", path: "d/..", setup: "mkdir $ROOT/d", use: NOT_A_FILE },
  { kind: "trailing-slash", path: "f/", setup: "printf x > $ROOT/f", use: NOT_A_FOLDER },
  { kind: "trailing-dot", path: "f/.", setup: "printf x > $ROOT/f", use: NOT_A_FOLDER },
  { kind: "trailing-slash-missing", path: "no/", use: MISSING, write: NOT_A_FILE },
  { kind: "file-as-dir", path: "f/x", setup: "printf x > $ROOT/f", use: NOT_A_FOLDER },
  { kind: "file-as-dir-deep", path: "f/x/y/z", setup: "printf x > $ROOT/f", use: NOT_A_FOLDER },
  { kind: "missing", path: "no.txt", use: MISSING, write: "ok" },
  { kind: "missing-folder", path: "no/such/f.txt", use: MISSING, write: "ok" },
  { kind: "tilde", path: "~/.bashrc", use: MISSING, write: "ok" },
  { kind: "env-var", path: "$HOME/.bashrc", use: MISSING, write: "ok" },
  { kind: "backslash", path: "..\\..\\etc\\passwd", use: MISSING, write: "ok" },
  { kind: "urlenc", path: "%2e%2e/%2e%2e/etc/passwd", use: MISSING, write: "ok" },
  { kind: "unicode-dots", path: "‥/‥/etc/passwd", use: MISSING, write: "ok" },
  { kind: "full-width-slash", path: "..／..／etc／passwd", use: MISSING, write: "ok" },
  { kind: "three-dots", path: ".../x", use: MISSING, write: "ok" },
  { kind: "file-url", path: "file:///etc/passwd", use: MISSING, write: "ok" },
  { kind: "drive-letter", path: "C:\\x", use: MISSING, write: "ok" },
  { kind: "newline-name", path: "a\nb.txt", setup: `${SECRET} > "$ROOT/a\nb.txt"`, use: "ok" },
  { kind: "space-name", path: " a b ", setup: `${SECRET} > "$ROOT/ a b "`, use: "ok" },
  { kind: "dash-name", path: "-rf", setup: `${SECRET} > $ROOT/-rf`, use: "ok" },
  { kind: "quote-name", path: "a\"b'c", setup: `${SECRET} > "$ROOT/a\\"b'c"`, use: "ok" },
  { kind: "emoji-name", path: "🦊/ü.txt", setup: `mkdir $ROOT/🦊; ${SECRET} > $ROOT/🦊/ü.txt`, use: "ok" },
  { kind: "name-of-255", path: "n".repeat(255), setup: `${SECRET} > $ROOT/${"n".repeat(255)}`, use: "ok" },
  { kind: "name-of-256", path: "n".repeat(256), use: INVALID },
  { kind: "name-of-256-bytes", path: "ü".repeat(128), use: INVALID },
  { kind: "name-of-256-deep", path: `a/b/${"n".repeat(256)}/f`, use: INVALID },
  { kind: "long-path", path: `${"a/".repeat(3000)}x`, use: INVALID },
  { kind: "deep", path: `${"x/".repeat(500)}f.txt`, use: MISSING, write: "ok" },
  { kind: "case-variant", path: "SUB/../../OUT/secret.txt", use: ESCAPE },
  { kind: "empty", path: "", use: INVALID },
  { kind: "nul", path: "a\0b", use: INVALID },
  { kind: "nul-end", path: "in.txt\0.png", setup: `${SECRET} > $ROOT/in.txt`, use: INVALID },
  { kind: "surrogate", path: "\ud800x", use: INVALID },
  { kind: "number", path: 42, use: "TOOL_INPUT_INVALID" },
  { kind: "null", path: null, use: "TOOL_INPUT_INVALID" },
  { kind: "undefined", path: undefined, use: "TOOL_INPUT_INVALID" },
  { kind: "list", path: ["in.txt"], use: "TOOL_INPUT_INVALID" },
  { kind: "hardlink-out", path: "h", setup: "ln $OUT/secret.txt $ROOT/h", use: "ok" },
];

const PATCH = "@@ -1 +1 @@\n-OUTSIDE-SECRET\n+PWNED\n";

function toExpected(answer: string, more: Partial<FileCase["expected"]>): FileCase["expected"] {
  return answer === "ok" ? { outcome: "ok", ...more } : { outcome: "error", code: answer, maxMs: 3000 };
}

export const PATH_CASES: readonly FileCase[] = PATH_KINDS.flatMap(({ kind, path, setup, use, write }) => {
  const before = setup === undefined ? [] : [setup];
  const isLiteral = typeof path === "string" && !path.includes("ROOT") && !path.startsWith("..");
  const after = (content: string): Partial<FileCase["expected"]> =>
    isLiteral ? { content: { [path]: content } } : {};
  return [
    {
      id: `read-${kind}`,
      tool: "read",
      input: { path },
      setup: before,
      expected: toExpected(use, { output: "OUTSIDE-SECRET\n" }),
    },
    {
      id: `write-${kind}`,
      tool: "write",
      input: { path, content: "PWNED" },
      setup: before,
      expected: toExpected(write ?? use, after("PWNED")),
    },
    {
      id: `edit-${kind}`,
      tool: "edit",
      input: { path, patch: PATCH },
      setup: before,
      expected: toExpected(use, after("PWNED\n")),
    },
  ];
});

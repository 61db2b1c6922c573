/** Our own sandbox cases, in the same categories as the measured ones. Data only; `process-case-runner` runs it. */
import type { SandboxCase } from "./process-case-runner.ts";

const ESCAPE = { outcome: "error", code: "TOOL_PATH_ESCAPE", invariant: "OUTSIDE-SECRET" } as const;
const LINES = `printf "one needle\\ntwo\\nthree needle\\n" > $ROOT/a.txt`;

function bash(
  id: string,
  cmd: string,
  args: readonly string[],
  expected: SandboxCase["expected"],
  more: Partial<SandboxCase> = {},
): SandboxCase {
  return { id: `bash-${id}`, tool: "bash", input: { cmd, args }, setup: [], expected, ...more };
}

function inFolder(
  id: string,
  cwd: string,
  expected: SandboxCase["expected"],
  setup: readonly string[] = [],
): SandboxCase {
  return {
    id: `bash-cwd-${id}`,
    tool: "bash",
    input: { cmd: "ls", args: [], opts: { cwd } },
    setup,
    expected,
  };
}

function grep(
  id: string,
  pattern: string,
  path: string | undefined,
  expected: SandboxCase["expected"],
  setup: readonly string[] = [LINES],
): SandboxCase {
  return {
    id: `grep-${id}`,
    tool: "grep",
    input: { pattern, ...(path === undefined ? {} : { path }) },
    setup,
    expected,
  };
}

export const OWN_CASES: readonly SandboxCase[] = [
  inFolder("parent", "..", ESCAPE),
  inFolder("root-of-all", "/", ESCAPE),
  inFolder("sibling", "{OUT}", ESCAPE),
  inFolder("prefix", "{ROOT}-evil", ESCAPE, ["mkdir $ROOT-evil"]),
  inFolder("in-and-out", "d/../../out", ESCAPE, ["mkdir $ROOT/d"]),
  inFolder("link-out", "l", ESCAPE, ["ln -s $OUT $ROOT/l"]),
  inFolder("link-out-relative", "l", ESCAPE, ["ln -s ../out $ROOT/l"]),
  inFolder("link-through", "l/d", ESCAPE, ["mkdir $OUT/d; ln -s $OUT $ROOT/l"]),
  inFolder("proc-cwd", "/proc/self/cwd", ESCAPE),
  inFolder("missing", "nowhere", { outcome: "error", code: "TOOL_FILE_NOT_FOUND" }),
  inFolder("file", "f", { outcome: "error", code: "TOOL_NOT_A_DIRECTORY" }, ["touch $ROOT/f"]),
  inFolder("loop", "a", { outcome: "error", code: "TOOL_PATH_INVALID" }, [
    "ln -s b $ROOT/a; ln -s a $ROOT/b",
  ]),
  inFolder("too-long", "d/".repeat(600), { outcome: "error", code: "TOOL_INPUT_INVALID" }),
  inFolder("link-inside", "l", { outcome: "ok", output: "x\n" }, [
    "mkdir $ROOT/d; touch $ROOT/d/x; ln -s d $ROOT/l",
  ]),
  inFolder("link-to-root", "l", { outcome: "ok", includes: ["l"] }, ["ln -s . $ROOT/l"]),
  inFolder("absolute", "{ROOT}/d", { outcome: "ok", output: "x\n" }, ["mkdir $ROOT/d; touch $ROOT/d/x"]),
  inFolder("spaces", "a b/ü", { outcome: "ok", output: "x\n" }, [
    `mkdir -p "$ROOT/a b/ü"; touch "$ROOT/a b/ü/x"`,
  ]),

  bash("blank", "   ", [], { outcome: "error", code: "TOOL_INPUT_INVALID" }),
  bash("nul-cmd", "l\0s", [], { outcome: "error", code: "TOOL_INPUT_INVALID" }),
  bash("long-cmd", "x".repeat(8_193), [], { outcome: "error", code: "TOOL_INPUT_INVALID" }),
  bash("longest-arg", "printf", ["%s", "x".repeat(8_192)], { outcome: "ok", output: "x".repeat(8_192) }),
  bash("long-arg", "printf", ["%s", "x".repeat(8_193)], { outcome: "error", code: "TOOL_INPUT_INVALID" }),
  bash("most-args", "echo", Array<string>(128).fill("x"), { outcome: "ok" }),
  bash("largest", "sh", ["-c", "echo $#", ...Array<string>(126).fill("x".repeat(8_192))], {
    outcome: "ok",
    output: "125\n",
  }),
  bash("dash-args", "echo", ["-e", "--help", "--"], { outcome: "ok" }),
  bash("option-like", "printf", ["%s\n", "--ro-bind", "--"], { outcome: "ok", output: "--ro-bind\n--\n" }),
  bash("cmd-like-option", "--bind", ["/", "/"], { outcome: "error", code: "TOOL_COMMAND_NOT_FOUND" }),
  bash(
    "directory-as-cmd",
    "./d",
    [],
    { outcome: "error", code: "TOOL_COMMAND_NOT_FOUND" },
    { setup: ["mkdir $ROOT/d"] },
  ),
  bash(
    "script-in-root",
    "./s.sh",
    ["a"],
    { outcome: "ok", output: "a\n" },
    { setup: [`printf '#!/bin/sh\\necho $1\\n' > $ROOT/s.sh; chmod +x $ROOT/s.sh`] },
  ),
  bash("umlauts", "echo", ["grüße 😀"], { outcome: "ok", output: "grüße 😀\n" }),
  bash("no-input", "cat", [], { outcome: "ok", output: "" }),
  bash("binary", "head", ["-c", "300000", "/dev/urandom"], { outcome: "ok", maxBytes: 200_400 }),
  bash("no-newline", "printf", ["x"], { outcome: "ok", output: "x" }),
  bash(
    "timeout-setsid",
    "sh",
    ["-c", "setsid sleep {TAG} & sleep {TAG}"],
    { outcome: "error", code: "TOOL_TIMEOUT", dead: true, maxMs: 3_500 },
    { ctx: { timeoutMs: 500 } },
  ),
  bash(
    "timeout-double-fork",
    "sh",
    ["-c", "(setsid sleep {TAG} &) ; sleep {TAG}"],
    { outcome: "error", code: "TOOL_TIMEOUT", dead: true },
    { ctx: { timeoutMs: 500 } },
  ),
  bash("leaves-a-daemon", "sh", ["-c", "setsid sleep {TAG} >/dev/null 2>&1 & exit 0"], {
    outcome: "ok",
    dead: true,
  }),
  bash("write-root", "sh", ["-c", "echo x > f && cat f"], { outcome: "ok", output: "x\n" }),
  bash("write-outside", "sh", ["-c", "echo x > {OUT}/f"], {
    outcome: "error",
    code: "TOOL_COMMAND_FAILED",
    absent: ["{OUT}/f"],
  }),
  bash("canary", "sh", ["-c", "cat {HOME}/{NONCE}/id_rsa ~/{NONCE}/id_rsa"], {
    outcome: "error",
    code: "TOOL_COMMAND_FAILED",
    excludes: ["HELDOUT-CANARY"],
  }),
  bash("run-socket", "python3", ["-c", `import socket;socket.socket(1,1).connect("{RUNSOCK}")`], {
    outcome: "error",
    code: "TOOL_COMMAND_FAILED",
  }),

  bash("rule-wget", "wget", ["x"], { outcome: "error", code: "TOOL_NETWORK_DISABLED" }),
  bash("rule-pip", "pip", ["install", "x"], { outcome: "error", code: "TOOL_NETWORK_DISABLED" }),
  bash("rule-url", "echo", ["https://example.test"], { outcome: "error", code: "TOOL_NETWORK_DISABLED" }),
  bash("rule-git-clone", "git", ["clone", "x"], { outcome: "error", code: "TOOL_GIT_REMOTE_DISABLED" }),
  bash("rule-git-option", "git", ["-C", ".", "fetch"], {
    outcome: "error",
    code: "TOOL_GIT_REMOTE_DISABLED",
  }),
  bash("rule-script", "bash", ["-euo", "pipefail", "-c", "cd . && X=1 wget y"], {
    outcome: "error",
    code: "TOOL_NETWORK_DISABLED",
  }),
  bash("rule-innocent-words", "echo", ["curl", "npm", "git push"], {
    outcome: "ok",
    output: "curl npm git push\n",
  }),
  bash("rule-innocent-script", "sh", ["-c", "echo push; git --version >/dev/null; echo pip"], {
    outcome: "ok",
    output: "push\npip\n",
  }),

  grep("found", "needle", undefined, { outcome: "ok", output: "a.txt:1:one needle\na.txt:3:three needle\n" }),
  grep("file", "needle", "a.txt", { outcome: "ok", output: "a.txt:1:one needle\na.txt:3:three needle\n" }),
  grep("dot-slash", "needle", "./", { outcome: "ok", output: "a.txt:1:one needle\na.txt:3:three needle\n" }),
  grep("absolute", "two", "{ROOT}/a.txt", { outcome: "ok", output: "a.txt:2:two\n" }),
  grep("sorted", "x", undefined, { outcome: "ok", output: "a.txt:1:x\na/b:1:x\na/b:2:x\nz:1:x\n" }, [
    `mkdir $ROOT/a; printf "x\\nx\\n" > $ROOT/a/b; echo x > $ROOT/z; echo x > $ROOT/a.txt`,
  ]),
  grep("colons", "x", undefined, { outcome: "ok", output: "a:1:b:1:x\n" }, [`echo x > "$ROOT/a:1:b"`]),
  grep("crlf", "two$", undefined, { outcome: "either" }, [`printf "two\\r\\n" > $ROOT/a.txt`]),
  grep("binary", "needle", undefined, { outcome: "either", maxBytes: 400 }, [
    `printf "needle\\0\\nneedle\\n" > $ROOT/a.bin`,
  ]),
  grep("outside", "SECRET", "../out", ESCAPE),
  grep("outside-absolute", "SECRET", "{OUT}/secret.txt", ESCAPE),
  grep("link-out", "SECRET", "l", ESCAPE, ["ln -s $OUT/secret.txt $ROOT/l"]),
  grep("link-inside", "needle", "l", { outcome: "ok", includes: ["one needle"] }, [
    LINES,
    "ln -s a.txt $ROOT/l",
  ]),
  grep("missing", "x", "nowhere", { outcome: "error", code: "TOOL_GREP_FAILED" }),
  grep("fifo", "x", "p", { outcome: "error", code: "TOOL_NOT_A_FILE", maxMs: 3_000 }, ["mkfifo $ROOT/p"]),
  grep("fifo-in-tree", "needle", undefined, { outcome: "ok", includes: ["one needle"], maxMs: 3_000 }, [
    LINES,
    "mkfifo $ROOT/p",
  ]),
  grep("bad-regex", "(", undefined, {
    outcome: "error",
    code: "TOOL_GREP_FAILED",
    includes: ["regex parse error"],
  }),
  grep("option-files", "--files", undefined, { outcome: "ok", output: "" }),
  grep("option-pre", "--pre=/bin/cat", "a.txt", { outcome: "ok", output: "" }),
  grep("dash-dash", "--", undefined, { outcome: "ok", output: "" }),
  grep("newline", "a\nb", undefined, { outcome: "error", code: "TOOL_GREP_FAILED" }),
  grep("capped", "x", undefined, { outcome: "ok", maxBytes: 200_400, includes: ["cut at 200000 bytes"] }, [
    "yes xxxxxxxxx | head -n 100000 > $ROOT/f",
  ]),
  grep("own-folder", "STORE", ".toolwright", { outcome: "error", code: "TOOL_PATH_PROTECTED" }, [
    "mkdir $ROOT/.toolwright; echo STORE > $ROOT/.toolwright/s",
  ]),
  grep("config-in-root", "needle", undefined, { outcome: "ok", excludes: ["EVIL"] }, [
    LINES,
    `printf -- "--pre=./e\\n" > $ROOT/.ripgreprc; printf '#!/bin/sh\\necho EVIL\\n' > $ROOT/e; chmod +x $ROOT/e`,
  ]),
];

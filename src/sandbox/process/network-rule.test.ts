import { describe, expect, test } from "vitest";
import { startCpuClock } from "../../../test/cpu-time.ts";
import { judgeNetworkUse } from "./network-rule.ts";

const NETWORK = "TOOL_NETWORK_DISABLED";
const REMOTE = "TOOL_GIT_REMOTE_DISABLED";

describe("the argv", () => {
  test.each([
    [NETWORK, "curl", ["x"]],
    [NETWORK, "/usr/bin/wget", []],
    [NETWORK, "npm", ["test"]],
    [NETWORK, "./bun", []],
    [NETWORK, "pip", ["--version"]],
    [NETWORK, "echo", ["a", "http://x"]],
    [NETWORK, "node", ["x.js", "https://x"]],
    [REMOTE, "git", ["push"]],
    [REMOTE, "/usr/bin/git", ["-C", "d", "pull"]],
    [REMOTE, "git", ["remote", "-v"]],
    [undefined, "git", ["status"]],
    [undefined, "git", ["log", "--grep=fetch"]],
    [undefined, "git", ["checkout", "feature/fetch-data"]],
    [undefined, "echo", ["curl", "npm", "push"]],
    [undefined, "echo", ["ubuntu", "xhttp://x", "pipe"]],
    [undefined, "pip3", []],
    [undefined, "npx", []],
  ])("%s for %s %j", (verdict, cmd, args) => expect(judgeNetworkUse(cmd, args)).toBe(verdict));
});

describe("the script of a shell", () => {
  test.each([
    [NETWORK, "curl x"],
    [NETWORK, "cd d && curl x"],
    [NETWORK, "true; /usr/bin/wget x | cat"],
    [NETWORK, "if true; then npm ci; fi"],
    [NETWORK, "X=1 Y=2 pip install x"],
    [NETWORK, "echo $(curl x)"],
    [NETWORK, 'echo "a `curl x` b"'],
    [NETWORK, "cu''rl x"],
    [NETWORK, 'c"u"rl x'],
    [NETWORK, "c\\url x"],
    [NETWORK, "(curl x)"],
    [NETWORK, "{ curl x; }"],
    [NETWORK, "a\ncurl x"],
    [NETWORK, "exec curl x"],
    [NETWORK, "echo 'https://x'"],
    [NETWORK, "sh -c 'curl x'"],
    [REMOTE, "git push"],
    [REMOTE, "git add . && git -C d push origin main"],
    [undefined, "echo curl"],
    [undefined, "echo 'git push'"],
    [undefined, "git status; echo push"],
    [undefined, "# curl x\ntrue"],
    [undefined, "grep -r curl ."],
    [undefined, "echo 'unclosed"],
  ])("%s for %j", (verdict, text) => expect(judgeNetworkUse("sh", ["-c", text])).toBe(verdict));

  test.each([
    [["-lc"]],
    [["-ec"]],
    [["-e", "-c"]],
    [["--norc", "-c"]],
    [["-euo", "pipefail", "-c"]],
    [["-c", "--"]],
  ])("is found behind %j", (flags) =>
    expect(judgeNetworkUse("/bin/bash", [...flags, "curl x"])).toBe(NETWORK),
  );

  test("is not looked for in a file of that name", () => {
    expect(judgeNetworkUse("sh", ["curl.sh", "curl"])).toBeUndefined();
  });

  test("is read in linear time", () => {
    const cpuMs = startCpuClock();
    // Long enough that quadratic time would take far more.
    judgeNetworkUse("sh", ["-c", `${'"$(`'.repeat(40_000)}${"a=".repeat(20_000)}`]);
    expect(cpuMs()).toBeLessThan(5_000);
  });
});

/** A `toolwright.config.ts` that an agent's command planted is untrusted code: no command loads it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  createPlace,
  DEFAULTS,
  type Place,
  requireBubblewrap,
  script,
  until,
} from "../sandbox/process-harness.ts";
import { toolwright } from "./command.ts";

/** Leaves a trace when it is loaded. */
const evil = (base: string): string =>
  `import { writeFileSync } from "node:fs"; writeFileSync("${base}/PWNED", ""); export default { tools: [] };`;

/** Commands that load the configuration. */
const LOADING: readonly (readonly string[])[] = [
  ["tools"],
  ["tools", "--json"],
  ["capabilities"],
  ["capabilities", "--refresh"],
  ["mcp"],
  ["mcp", "--http"],
  ["order", "apple"],
  ["context", "tree"],
  ["tool", "order"],
  ["help", "order"],
  ["order", "--help"],
];

/** Commands that may read the store from it. */
const OTHERS: readonly (readonly string[])[] = [
  ["ps"],
  ["approvals"],
  ["why", "r"],
  ["calls", "r"],
  ["inspect", "r"],
  ["approve", "r"],
  ["deny", "r"],
  ["cancel", "r"],
  ["gc", "--dry-run"],
  ["doctor"],
  ["up", "w.tsx"],
  ["resume", "r"],
];

let place: Place;
let home: string;
const before = process.env["XDG_STATE_HOME"];

beforeAll(requireBubblewrap);
beforeEach(() => {
  place = createPlace();
  // The folder of the marks; a space in it must not break the printed command.
  home = mkdtempSync(join(tmpdir(), "toolwright state "));
  process.env["XDG_STATE_HOME"] = home;
  return () => {
    place.remove();
    rmSync(home, { recursive: true, force: true });
  };
});
afterAll(() => {
  if (before === undefined) delete process.env["XDG_STATE_HOME"];
  else process.env["XDG_STATE_HOME"] = before;
});

async function plant(name = "toolwright.config.ts"): Promise<void> {
  // Renamed into place: a command that writes into the file itself may be stopped before the first byte.
  const { text } = await script(
    place.root,
    `cat > planted.tmp <<'END'\n${evil(home)}\nEND\nmv planted.tmp ${name}\n`,
  );
  expect(text).toContain(name);
  expect(readFileSync(join(place.root, name), "utf8")).toContain("PWNED");
}

const isPwned = (): boolean => existsSync(join(home, "PWNED"));

describe.runIf(process.platform === "linux")("a planted configuration", () => {
  it("is refused by every command that needs it, with a fix", async () => {
    await plant();
    const results = await Promise.all(
      LOADING.map(async (args) => ({ args, ...(await toolwright(place.root, args)) })),
    );
    for (const { args, code, stderr } of results) {
      expect([args, code]).toEqual([args, 1]);
      expect(stderr).toContain(
        "toolwright.config.ts was created or replaced while an agent ran a command, so it was not loaded.",
      );
      expect(stderr).toMatch(/To trust it: rm '.*toolwright state .*\/untrusted\/[0-9a-f]{64}'\n/);
    }
    const { json } = await toolwright(place.root, ["tools", "--json"]);
    expect(json()).toMatchObject({ error: { code: "TOOL_PATH_PROTECTED" } });
    expect(isPwned()).toBe(false);
  });

  it("is run by no other command either", async () => {
    await plant();
    writeFileSync(join(place.root, "w.tsx"), "export default 1;\n");
    await Promise.all(OTHERS.map((args) => toolwright(place.root, args)));
    expect(isPwned()).toBe(false);
  });

  it.each(["toolwright.config.mts", "toolwright.config.js", "toolwright.config.mjs"])(
    "is refused as %s too",
    async (name) => {
      await plant(name);
      const { code, stderr } = await toolwright(place.root, ["tools"]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${name} was created or replaced while`)]);
      expect(isPwned()).toBe(false);
    },
  );

  it.each([
    [
      "takes the place of a link",
      `echo 'export default {}' > own.ts; ln -s own.ts toolwright.config.ts`,
      "toolwright.config.ts",
    ],
    ["is created where a link leads", `ln -s missing.ts toolwright.config.ts`, "missing.ts"],
    [
      "is behind a folder link that changes",
      `mkdir a b; echo 'export default {}' > a/own.ts; ln -s a way; ln -s way/own.ts toolwright.config.ts`,
      "b/own.ts; ln -sfn b way",
    ],
  ])("is refused when it %s", async (_, prepare, target) => {
    execFileSync("sh", ["-c", prepare], { cwd: place.root });
    await script(place.root, `cat > planted.tmp <<'END'\n${evil(home)}\nEND\nmv planted.tmp ${target}\n`);
    expect(readFileSync(join(place.root, "toolwright.config.ts"), "utf8")).toContain("PWNED");
    const { code, stderr } = await toolwright(place.root, ["tools"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("was created or replaced while")]);
    expect(isPwned()).toBe(false);
  });

  it("is loaded once the user has run the printed command", async () => {
    await plant();
    const { stderr } = await toolwright(place.root, ["tools"]);
    const [, command = ""] = /To trust it: (rm .*)\n/.exec(stderr) ?? [];
    execFileSync("sh", ["-c", command]);
    expect(await toolwright(place.root, ["tools"])).toMatchObject({ code: 0 });
    expect(isPwned()).toBe(true);
  });

  it("is refused while the command runs, and after the agent was killed before it could mark the file", async () => {
    const source = pathToFileURL(resolve("src/sandbox/process/run-command.ts")).href;
    const text = `touch started; until [ -e go ]; do sleep 0.01; done; echo '${evil(home)}' > planted.tmp; mv planted.tmp toolwright.config.ts; touch planted; exec sleep 600`;
    const request = { ...DEFAULTS, rootDir: place.root, cmd: "sh", args: ["-c", text], timeoutMs: 600_000 };
    const program = `await (await import("${source}")).runCommand(${JSON.stringify(request)})`;
    const options = ["--experimental-strip-types", "--no-warnings", "--input-type=module"];
    const agent = spawn(process.execPath, [...options, "-e", program], { stdio: "ignore" });
    const exited = once(agent, "exit");
    try {
      await until(() => existsSync(join(place.root, "started")));
      // It can no longer look at the root, as in a long calculation.
      agent.kill("SIGSTOP");
      writeFileSync(join(place.root, "go"), "");
      await until(() => existsSync(join(place.root, "planted")));
      expect((await toolwright(place.root, ["tools"])).stderr).toContain("was created or replaced while");
    } finally {
      agent.kill("SIGKILL");
      await exited;
    }
    for (let command = 0; command < 2; command += 1) {
      const { code, stderr } = await toolwright(place.root, ["tools"]);
      expect([code, stderr]).toEqual([1, expect.stringContaining("was created or replaced while")]);
      expect(isPwned()).toBe(false);
      // The next command in the root finds what the killed one has left.
      expect(await script(place.root, "true")).toMatchObject({ ok: true });
    }
    const [, trust = ""] =
      /To trust it: (rm .*)\n/.exec((await toolwright(place.root, ["tools"])).stderr) ?? [];
    execFileSync("sh", ["-c", trust]);
    expect(await toolwright(place.root, ["tools"])).toMatchObject({ code: 0 });
    expect(readdirSync(join(home, "toolwright/running"))).toEqual([]);
  });

  it("in another folder does not affect this one", async () => {
    mkdirSync(join(place.root, "sub"));
    await plant("sub/toolwright.config.ts");
    expect((await toolwright(place.root, ["tools"])).stderr).toContain("There is no toolwright.config.ts");
    expect((await toolwright(join(place.root, "sub"), ["tools"])).stderr).toContain(
      "was created or replaced while",
    );
  });
});

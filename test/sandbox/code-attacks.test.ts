/**
 * An agent whose root is its own project tries to change the code that runs it: Toolwright, what Toolwright loads later, the
 * program itself and Node. As root and as an ordinary user.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { createAttackPlace, USERS, type AttackPlace } from "./attack-harness.ts";
import { requireBubblewrap } from "./process-harness.ts";

beforeAll(requireBubblewrap);

const SLOW = { timeout: 120_000 };
const PACKAGES = [
  "zod",
  "diff",
  "commander",
  "@vscode/ripgrep",
  "@vscode/ripgrep-linux-x64",
  "@vscode/ripgrep-linux-arm64",
];

/** A project that contains the package. It is not below node_modules, where Node does not strip types. */
function makeProject(root: string): void {
  const from = inject("publicRoot");
  const to = join(root, "vendor/toolwright");
  for (const name of ["src", "sql", "package.json", "test/sandbox/attack-process.ts"])
    cpSync(join(from, name), join(to, name), { recursive: true });
  for (const name of PACKAGES) {
    const folder = join(from, "node_modules", name);
    if (existsSync(folder))
      cpSync(realpathSync(folder), join(root, "node_modules", name), { recursive: true });
  }
  mkdirSync(join(root, "node_modules/.bin"));
  mkdirSync(join(root, "node_modules/other"));
  symlinkSync("../../vendor/toolwright/src/cli/main.ts", join(root, "node_modules/.bin/toolwright"));
  mkdirSync(join(root, "app"));
  writeFileSync(
    join(root, "app/agent.ts"),
    `import "../vendor/toolwright/test/sandbox/attack-process.ts";\n`,
  );
}

describe.each(USERS)("as %s", (user) => {
  let place: AttackPlace;
  // Shared by all tests: a test that changes it fails.
  beforeAll(() => {
    place = createAttackPlace(user, (root) => join(root, "app/agent.ts"));
    makeProject(place.root);
    return () => place.remove();
  });

  const TARGETS = [
    "node_modules/@vscode/ripgrep/lib/index.js",
    "node_modules/zod/index.js",
    "vendor/toolwright/src/sandbox/process/run-command.ts",
    "vendor/toolwright/src/cli/main.ts",
    "vendor/toolwright/package.json",
    "vendor/toolwright/node_modules/zod/index.js",
    "node_modules/.bin/toolwright",
    "app/agent.ts",
    "app/beside.ts",
  ];

  test.each(TARGETS)("no tool changes %s", SLOW, async (path) => {
    const payload = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(`${place.base}/PWNED`)}, "");`;
    const before = existsSync(join(place.root, path))
      ? readFileSync(join(place.root, path), "utf8")
      : undefined;
    const folder = dirname(path);
    const ended = await place.run(
      { write: path, content: payload },
      { edit: path, patch: `@@ -1 +1,2 @@\n+${payload}\n ${before?.split("\n")[0] ?? ""}\n` },
      {
        bash: `echo '${payload}' > p; mkdir -p ${folder}; cp p ${path}; rm -f ${path}; cp p ${path}; mv ${path} away; mv ${folder} away; ln -sf p ${path}; mv -T ${folder.split("/")[0]} moved && cp -r moved ${folder.split("/")[0]} && cp p ${path}; true`,
      },
      { grep: "needle" },
    );
    expect(ended[0]).toMatchObject({ code: "TOOL_PATH_PROTECTED" });
    expect(ended[1]?.ok).toBe(false);
    const after = existsSync(join(place.root, path))
      ? readFileSync(join(place.root, path), "utf8")
      : undefined;
    expect(after).toBe(before);
    await place.run({ grep: "needle" });
    expect(place.isPwned()).toBe(false);
  });

  test("the Node that runs the agent cannot be replaced, even inside the root", SLOW, async () => {
    const node = join(place.root, "tools/bin/node");
    cpSync(realpathSync(process.execPath), node);
    const other = createAttackPlace(user, (root) => join(root, "app/agent.ts"), node, place);
    const [written, , moved] = await other.run(
      { write: "tools/bin/node", content: "evil" },
      { bash: `rm -f tools/bin/node; cp /bin/true tools/bin/node; true` },
      { bash: `mv tools moved; mv tools/bin moved; true` },
    );
    expect(written).toMatchObject({ code: "TOOL_PATH_PROTECTED" });
    expect(moved?.ok).toBe(true);
    expect(readFileSync(node).equals(readFileSync(realpathSync(process.execPath)))).toBe(true);
  });

  test("a missing package is not loaded after a tool has created it", SLOW, async () => {
    const payload = `require("node:fs").writeFileSync(${JSON.stringify(`${place.base}/PWNED`)}, "");`;
    const other = createAttackPlace(user, (root) => join(root, "app/tokens.ts"), undefined, place);
    writeFileSync(
      join(place.root, "app/tokens.ts"),
      `import "../vendor/toolwright/test/sandbox/attack-process.ts";
       import { loadTokenizer } from "../vendor/toolwright/src/agent/context/load-tokenizer.ts";
       await loadTokenizer("gpt-5");\n`,
    );
    const folder = "node_modules/gpt-tokenizer";
    await other.run(
      { write: `${folder}/package.json`, content: `{"name":"gpt-tokenizer","exports":{"./*":"./index.js"}}` },
      { write: `${folder}/index.js`, content: payload },
    );
    expect(existsSync(join(place.root, folder, "index.js"))).toBe(true);
    expect(place.isPwned()).toBe(false);
  });

  test("the rest of the project can be changed", SLOW, async () => {
    const ended = await place.run(
      { write: "src/x.ts", content: "x" },
      { write: "node_modules/other/x.js", content: "x" },
      {
        bash: `echo y > src/x.ts && echo y > node_modules/other/x.js && mkdir node_modules/new && rm -r node_modules/other`,
      },
    );
    expect(ended.map(({ ok }) => ok)).toEqual([true, true, true]);
  });
});

/**
 * An agent whose root is its own project tries to change the code that runs it: Toolwright, what Toolwright loads later, the
 * program itself and Node. As root and as an ordinary user.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
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
  writeFileSync(join(root, "package.json"), "{}");
  mkdirSync(join(root, "node_modules/.bin"));
  mkdirSync(join(root, "node_modules/other"));
  symlinkSync("../../vendor/toolwright/src/cli/main.ts", join(root, "node_modules/.bin/toolwright"));
  mkdirSync(join(root, "app"));
  writeFileSync(
    join(root, "app/agent.ts"),
    `import "../vendor/toolwright/test/sandbox/attack-process.ts";\n`,
  );
}

/** How each optional package is first used. `source` is the folder of Toolwright's own code. */
const LATE_IMPORTS: Readonly<Record<string, string>> = {
  pg: `const { openStore } = await import(source + "store/open-store.ts");
    await (await openStore("postgres://localhost:1/x")).close?.();`,
  ai: `const { askModel } = await import(source + "builtin/capabilities/ask-model.ts");
    await askModel({ specificationVersion: "v4", doGenerate() {} } as never, {} as never);`,
  "gpt-tokenizer": `const { loadTokenizer } = await import(source + "agent/context/load-tokenizer.ts");
    await loadTokenizer("gpt-5");`,
  "@openai/agents": `const { asksForApproval } = await import(source + "tool/foreign/openai-agents-approval.ts");
    await asksForApproval({}, {}, {});`,
  "@langchain/core": `await import(source + "adapters/langchain/index.ts");`,
  "@modelcontextprotocol/server": `await import(source + "adapters/mcp/index.ts");`,
  "@anthropic-ai/sdk": `const { defineTool } = await import(source + "index.ts");
    const { toAnthropicRunnableTool } = await import(source + "adapters/anthropic/to-runnable-tool.ts");
    const fail = defineTool({ name: "fail", schema: z.object({}), execute: () => { throw new Error("x"); } });
    await toAnthropicRunnableTool(fail).run({});`,
  effect: `await import(source + "effect.ts");`,
};

/** Every entry point, and a file for each dependency that no entry point imports. */
const ENTRIES = [
  "adapters/ai-sdk/index.ts",
  "adapters/anthropic/index.ts",
  "adapters/commander/index.ts",
  "adapters/langchain/index.ts",
  "adapters/mcp/index.ts",
  "adapters/openai-agents/index.ts",
  "index.ts",
  "effect.ts",
  "postgres.ts",
  "jsx-runtime.ts",
  "server/index.ts",
  "testing/index.ts",
  "cli/program.ts",
  "load/compile.ts",
  "sandbox/search/search-files.ts",
];
const DEPENDENCIES = ["zod", "diff", "commander", "esbuild", "croner", "@vscode/ripgrep"];

/** The names that a planted package has to export, or its import fails before it runs. */
const NAMES =
  "Effect AIMessage BaseMessage ToolMessage RemoveMessage DynamicStructuredTool patchConfig mapStoredMessagesToChatMessages isDirectToolOutput pickRunnableConfigKeys AsyncLocalStorageProviderSingleton McpServer StdioServerTransport serveStdio WebStandardStreamableHTTPServerTransport createMcpHandler fromJsonSchema isSpecType localhostAllowedHostnames localhostAllowedOrigins inputRequired inputResponse validateHostHeader validateOriginHeader CLIENT_CAPABILITIES_META_KEY CLIENT_INFO_META_KEY z Command Option Argument InvalidArgumentError parsePatch transformSync rgPath".split(
    " ",
  );

/** Connects on its first call, which is after other tools. */
const LATE_CLIENT = {
  "@modelcontextprotocol/client": `const { toolsOfServers } = await import(source + "cli/mcp-servers.ts");
    const [tool] = await toolsOfServers({ s: { url: "http://localhost:1" } }, ".");
    await tool.call({});`,
};

/** A package that runs \`text\`, with optional peers. */
function makePackage(folder: string, text: string, optional: Readonly<Record<string, string>> = {}): void {
  mkdirSync(folder, { recursive: true });
  const exported = { ".": "./index.js", "./*": "./index.js" };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ exports: exported, peerDependencies: optional }),
  );
  writeFileSync(join(folder, "index.js"), text);
}

// What protects code does not depend on the user: root attacks every night.
describe.each(IS_EXHAUSTIVE ? USERS : USERS.slice(-1))("as %s", (user) => {
  let place: AttackPlace;
  // Shared by all tests: a test that changes it fails.
  beforeAll(() => {
    place = createAttackPlace(user, (root) => join(root, "app/agent.ts"));
    makeProject(place.root);
    return () => place.remove();
  });

  /** An agent that imports each package after its steps, and writes the errors to a file. */
  const agentWith = (name: string, imports: Readonly<Record<string, string>>): AttackPlace => {
    const tries = Object.entries(imports).map(
      ([peer, text]) =>
        `await (async () => { ${text} })().catch((e) => (errors[${JSON.stringify(peer)}] = told(e)));`,
    );
    writeFileSync(
      join(place.root, `app/${name}.ts`),
      `import { writeFileSync } from "node:fs";
       import "../vendor/toolwright/test/sandbox/attack-process.ts";
       import { z } from "zod";
       const errors: Record<string, string> = {};
       const told = (e: any): string => [e.message, e.hint, e.cause?.message].join(" ");
       const source = new URL("../vendor/toolwright/src/", import.meta.url).href;
       ${tries.join("\n")}
       writeFileSync(new URL("../errors.json", import.meta.url), JSON.stringify(errors));\n`,
    );
    return createAttackPlace(user, (root) => join(root, `app/${name}.ts`), undefined, place);
  };
  /** A script that creates a package. It exports whatever Toolwright imports by name. */
  const plant = (folder: string, name: string): string => {
    const mark = JSON.stringify(`${place.base}/LOADED-${name.replaceAll("/", "-")}`);
    const text = `require("node:fs").writeFileSync(${mark}, ""); ${NAMES.map((each) => `exports.${each} = class {};`).join(" ")}`;
    const manifest = `{"name":"${name}","exports":{".":"./index.js","./*":"./index.js"}}`;
    return `mkdir -p ${folder}; echo '${manifest}' > ${folder}/package.json; echo '${text}' > ${folder}/index.js`;
  };
  const loadedIn = ({ base }: AttackPlace): string[] => {
    const marks = readdirSync(base).filter((name) => name.startsWith("LOADED"));
    for (const name of marks) rmSync(join(base, name));
    return marks;
  };

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
    expect(place.isPwned()).toBe(false);
  });

  // Each agent above has also loaded what the attacks before its own had left.
  test("no agent runs what the attacks on its code have left", SLOW, async () => {
    expect((await place.run({ grep: "needle" })).map(({ ok }) => ok)).toEqual([true]);
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

  test("an optional package that a tool creates is not loaded, whichever it is", SLOW, async () => {
    const agent = agentWith("late", LATE_IMPORTS);
    const planted = Object.keys(LATE_IMPORTS);
    const ended = await agent.run(...planted.map((name) => ({ bash: plant(`node_modules/${name}`, name) })));
    expect(ended.filter(({ ok }) => !ok)).toEqual([]);
    expect(planted.filter((name) => !existsSync(join(place.root, "node_modules", name, "index.js")))).toEqual(
      [],
    );
    expect(loadedIn(agent)).toEqual([]);
    expect(readFileSync(join(place.root, "errors.json"), "utf8")).toContain("restart the process");
    place.person(`rm -r ${planted.map((name) => `node_modules/${name}`).join(" ")}`);
  });

  test("an installed package that a tool covers by a nearer one is not loaded", SLOW, async () => {
    for (const name of ["ai", "gpt-tokenizer"]) makePackage(join(place.root, "store", name), "");
    place.person(`ln -s ../store/ai ../store/gpt-tokenizer node_modules/`);
    const agent = agentWith("covered", LATE_IMPORTS);
    await agent.run({
      // Node looks there before it looks in the root: vendor/toolwright, vendor, the root.
      bash: `${plant("vendor/node_modules/ai", "ai")}
        rm node_modules/gpt-tokenizer; ${plant("node_modules/gpt-tokenizer", "gpt-tokenizer")}`,
    });
    expect(existsSync(join(place.root, "vendor/node_modules/ai/index.js"))).toBe(true);
    expect(loadedIn(agent)).toEqual([]);
    place.person(`rm -r vendor/node_modules node_modules/ai node_modules/gpt-tokenizer store`);
  });

  test(
    "a dependency that a tool covers by a nearer one is not loaded by a late entry point",
    SLOW,
    async () => {
      const late = ENTRIES.map((entry) => [entry, `await import(source + ${JSON.stringify(entry)});`]);
      const agent = agentWith("entries", {
        ...(Object.fromEntries(late) as Record<string, string>),
        toolwright: `await import("toolwright/mcp" as string);`,
      });
      const ended = await agent.run(
        ...DEPENDENCIES.map((name) => ({ bash: plant(`vendor/node_modules/${name}`, name) })),
        { bash: plant("node_modules/toolwright", "toolwright") },
      );
      expect(ended.filter(({ ok }) => !ok)).toEqual([]);
      expect(loadedIn(agent)).toEqual([]);
      const errors = JSON.parse(readFileSync(join(place.root, "errors.json"), "utf8")) as object;
      for (const each of ["server/index.ts", "cli/program.ts", "load/compile.ts", "toolwright"])
        expect(errors).toHaveProperty([each], expect.stringContaining("restart the process"));
      place.person(`rm -r vendor/node_modules node_modules/toolwright`);
    },
  );

  test("the links of pnpm to the dependencies of a package cannot be changed", SLOW, async () => {
    const links = "node_modules/.pnpm/ai@7.0.0/node_modules";
    makePackage(join(place.root, links, "ai"), "");
    symlinkSync(".pnpm/ai@7.0.0/node_modules/ai", join(place.root, "node_modules/ai"));
    symlinkSync("../../dep", join(place.root, links, "dep"));
    const [ended] = await place.run({
      bash: `ln -sfn /tmp ${links}/dep; ln -s /tmp ${links}/new; mv ${links} away; echo done`,
    });
    expect(ended?.text).toContain("done");
    expect(place.person(`ls ${links}; readlink ${links}/dep`)).toBe("ai\ndep\n../../dep\n");
    place.person(`rm -r node_modules/.pnpm node_modules/ai`);
  });

  test("code that a store of packages shares cannot be changed under its other names", SLOW, async () => {
    const files = ["node_modules/zod/index.js", "node_modules/zod/package.json"];
    const before = files.map((path) => readFileSync(join(place.root, path), "utf8"));
    const stored = ".pnpm-store/v10/files/ab/0123456789abcdef-1";
    // Another project's copy, the package manager's store, and a name of no special kind.
    const links = `mkdir -p other/node_modules/zod .pnpm-store/v10/files/ab free
      for f in index.js package.json; do ln node_modules/zod/$f other/node_modules/zod/$f; done
      ln node_modules/zod/index.js ${stored}; ln node_modules/zod/index.js free/name.js; git init -q repo
      ln repo/.git/config free/config; ln vendor/toolwright/package.json free/manifest`;
    execFileSync("/bin/sh", ["-c", links], { cwd: place.root });
    const [, , ended] = await place.run(
      { write: "other/node_modules/zod/index.js", content: "own copy" },
      {
        bash: `for f in other/node_modules/zod/* ${stored} free/*; do chmod u+w $f; echo evil >> $f; done; true`,
      },
      {
        bash: `echo works > free/new && mv .pnpm-store x; mv other/node_modules y; cp free/new free/name.js; echo done`,
      },
    );
    expect(ended).toMatchObject({ ok: true, text: expect.stringContaining("done") });
    expect(files.map((path) => readFileSync(join(place.root, path), "utf8"))).toEqual(before);
    expect(place.person(`cat repo/.git/config vendor/toolwright/package.json`)).not.toContain("evil");
    expect(place.person(`cat other/node_modules/zod/index.js free/new`)).toContain("works");
    place.person(`rm -rf other .pnpm-store free repo x y`);
  });

  test("a client of MCP servers that a tool creates is not loaded by the first call", SLOW, async () => {
    for (const name of ["@modelcontextprotocol/server", "@modelcontextprotocol/core"]) {
      const from = realpathSync(join(inject("publicRoot"), "node_modules", name));
      cpSync(from, join(place.root, "node_modules", name), { recursive: true });
    }
    const agent = agentWith("client", LATE_CLIENT);
    await agent.run({ bash: plant("node_modules/@modelcontextprotocol/client", "client") });
    expect(existsSync(join(place.root, "node_modules/@modelcontextprotocol/client/index.js"))).toBe(true);
    expect(loadedIn(agent)).toEqual([]);
    place.person(`rm -r node_modules/@modelcontextprotocol`);
  });

  test("a package whose optional dependency a tool creates is not loaded", SLOW, async () => {
    makePackage(join(place.root, "node_modules/pg"), `require("pg-native");`, { "pg-native": "*" });
    const agent = agentWith("nested", LATE_IMPORTS);
    await agent.run({ bash: plant("node_modules/pg-native", "pg-native") });
    expect(existsSync(join(place.root, "node_modules/pg-native/index.js"))).toBe(true);
    expect(loadedIn(agent)).toEqual([]);
    place.person(`rm -r node_modules/pg node_modules/pg-native`);
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

/** Every template of `toolwright init`, from the packed package: type-checked, run offline and tested as a user would. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { TEMPLATE_NAMES } from "../../src/cli/templates.ts";
import packageJson from "../../package.json" with { type: "json" };
import { type Installed, installPackage } from "./installed.ts";

vi.setConfig({ testTimeout: 120_000 });

let installed: Installed;
const created: Record<string, string> = {};

beforeAll(() => {
  installed = installPackage();
  for (const template of TEMPLATE_NAMES) {
    const { code, output } = installed.paste(
      installed.folder,
      `npx toolwright init ${template} --template ${template}`,
    );
    expect([template, code]).toEqual([template, 0]);
    created[template] = output;
  }
}, 180_000);

afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

const inTemplate = (template: string): string => join(installed.folder, template);
const placed = (template: string): string[] =>
  readFileSync(join(inTemplate(template), "orders.txt"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" ").slice(0, 2).join(" "));

/** The commands under a heading, without their comments. */
function commandsUnder(heading: string, output: string): string[] {
  const lines = output.split(`${heading}:\n`)[1]?.split("\n") ?? [];
  const end = lines.findIndex((line) => !line.startsWith("  "));
  return lines.slice(0, end === -1 ? undefined : end).map((line) => line.trim().replace(/ +# .*$/, ""));
}

/** The output of each template when it is started, and the exit codes and orders of its further commands. */
const EXPECTED: Readonly<Record<string, { says: RegExp; more: number[]; placed: string[] }>> = {
  tool: { says: /Ordered: 2 of apple/, more: [0, 0, 0], placed: ["2 apple"] },
  agent: { says: /approval: Order 50 of pear\?/, more: [0, 0, 0], placed: ["2 apple", "50 pear"] },
  workflow: { says: /"receipt": "2 of apple"/, more: [3, 0, 0, 0], placed: ["2 apple", "50 pear"] },
  // It serves until it is stopped, so it has its own test.
  chat: { says: /^$/, more: [0, 0], placed: ["2 apple"] },
  mcp: { says: /Sent again: \{ receipt: '2 of apple' \}/, more: [0, 0, 0], placed: ["2 apple", "2 apple"] },
};

describe.each(TEMPLATE_NAMES)("the template %s", (template) => {
  it("prints three commands that install, run and test it, and further ones that work", async () => {
    const [install, start = "", test = "", ...rest] = commandsUnder("Next", created[template] ?? "");
    // Installing needs a registry. The packages are in the folder above, in versions that fit.
    expect([install, rest]).toEqual([`cd ${template} && npm install`, []]);
    const cwd = inTemplate(template);
    const expected = EXPECTED[template];
    if (template === "chat") await tryChat(cwd, start);
    else
      expect(installed.paste(cwd, start)).toEqual({
        code: 0,
        output: expect.stringMatching(expected?.says ?? /^$/) as string,
      });
    const tested = installed.paste(cwd, test);
    expect(tested).toEqual({ code: 0, output: expect.stringMatching(/\bfail 0\b/) as string });
    expect(tested.output).not.toMatch(/\btests 0\b/);
    const more = commandsUnder("Then", created[template] ?? "").map((line) => installed.paste(cwd, line));
    expect(more.map(({ code }) => code)).toEqual(expected?.more);
    expect(placed(template)).toEqual(expected?.placed);
  });

  it("depends on versions that this project is tested with", () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(inTemplate(template), "package.json"), "utf8"),
    ) as Record<"dependencies" | "devDependencies", Record<string, string>>;
    const peers: Readonly<Record<string, string>> = packageJson.peerDependencies;
    const { toolwright, ...others } = dependencies;
    expect(toolwright).toBe(`^${packageJson.version}`);
    const tested: Readonly<Record<string, string>> = {
      ...packageJson.devDependencies,
      ...packageJson.dependencies,
    };
    for (const [name, range] of Object.entries(others)) {
      if (peers[name] !== undefined) expect([name, range]).toEqual([name, peers[name]]);
      // The page of the chat uses packages that only it needs.
      else expect([name, range]).toEqual([name, tested[name]?.replace(/\.\d+$/, ".0")]);
    }
    expect(Object.keys(devDependencies)).toEqual([
      "@types/node",
      "typescript",
      ...(template === "chat" ? ["@types/react", "@types/react-dom"] : []),
    ]);
  });
});

/** Opens the page as a browser does, and sends one message. */
async function tryChat(cwd: string, start: string): Promise<void> {
  const { url, stop } = await installed.serve(cwd, `PORT=0 ${start}`);
  try {
    expect(await (await fetch(url)).text()).toContain('src="/page.js"');
    expect((await (await fetch(`${url}/page.js`)).text()).length).toBeGreaterThan(50_000);
    const parts = [{ type: "text", text: "Order 2 apples" }];
    const answer = await fetch(`${url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "monday", messages: [{ id: "u1", role: "user", parts }] }),
    });
    expect(await answer.text()).toContain("2 of apple");
  } finally {
    stop();
  }
}

it("makes projects without type errors, on TypeScript 5.9 and 7", () => {
  const settings = TEMPLATE_NAMES.map((name) =>
    readFileSync(join(inTemplate(name), "tsconfig.json"), "utf8"),
  );
  expect(new Set(settings).size).toBe(1);
  // They have the same settings, so one run of each compiler checks them all, and a mistake.
  copyFileSync(join(inTemplate("tool"), "tsconfig.json"), join(installed.folder, "tsconfig.json"));
  writeFileSync(join(installed.folder, "package.json"), '{ "type": "module" }');
  const wrong = join(installed.folder, "wrong");
  mkdirSync(wrong);
  writeFileSync(
    join(wrong, "wrong.ts"),
    'import { placeOrder } from "../tool/place-order.ts";\nvoid placeOrder.execute({});\n',
  );
  const compilers = IS_EXHAUSTIVE ? (["typescript", "typescript-5"] as const) : (["typescript"] as const);
  for (const compiler of compilers) {
    const errors = installed
      .compile(compiler, installed.folder)
      .trim()
      .split(/\n(?=\S)/);
    expect([compiler, errors]).toEqual([
      compiler,
      [expect.stringMatching(/^wrong\/wrong\.ts\(2,25\): error TS/)],
    ]);
  }
});

it("npm create toolwright does the same", () => {
  const made = installed.paste(installed.folder, "create-toolwright made --template tool --agents");
  expect(made.code).toBe(0);
  expect(commandsUnder("Next", made.output)).toEqual(["cd made && npm install", "npm start", "npm test"]);
  expect(readFileSync(join(installed.folder, "made/order.ts"), "utf8")).toBe(
    readFileSync(join(inTemplate("tool"), "order.ts"), "utf8"),
  );
  expect(readFileSync(join(installed.folder, "made/AGENTS.md"), "utf8")).toContain(
    "npx toolwright why <run-id>",
  );
  const misspelt = installed.paste(installed.folder, "create-toolwright other --template shop");
  expect(misspelt).toEqual({
    code: 1,
    output: expect.stringContaining("Allowed choices are tool, agent, chat, workflow, mcp.") as string,
  });
});

it("has the version of the package, and needs that one", () => {
  const creator = JSON.parse(
    readFileSync(join(installed.folder, "node_modules/create-toolwright/package.json"), "utf8"),
  ) as object;
  const { version, engines } = packageJson;
  expect(creator).toMatchObject({ version, engines, dependencies: { toolwright: `^${version}` } });
});

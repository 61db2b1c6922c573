/** Every template of `toolwright init`, from the packed package: type-checked, run offline and tested as a user would. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
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

/** What each template prints when it is started, and the exit codes and orders of its further commands. */
const EXPECTED: Readonly<Record<string, { says: RegExp; more: number[]; placed: string[] }>> = {
  tool: { says: /Ordered: 2 of apple/, more: [0, 0, 0], placed: ["2 apple"] },
  agent: { says: /approval: Order 50 of pear\?/, more: [0, 0, 0], placed: ["2 apple", "50 pear"] },
  workflow: { says: /"receipt": "2 of apple"/, more: [3, 0, 0, 0], placed: ["2 apple", "50 pear"] },
  mcp: { says: /Sent again: \{ receipt: '2 of apple' \}/, more: [0, 0, 0], placed: ["2 apple", "2 apple"] },
};

describe.each(TEMPLATE_NAMES)("the template %s", (template) => {
  it("prints three commands that install, run and test it, and further ones that work", () => {
    const [install, start = "", test = "", ...rest] = commandsUnder("Next", created[template] ?? "");
    // Installing needs a registry. The packages are in the folder above, in versions that fit.
    expect([install, rest]).toEqual([`cd ${template} && npm install`, []]);
    const cwd = inTemplate(template);
    const expected = EXPECTED[template];
    const first = installed.paste(cwd, start);
    expect(first).toEqual({ code: 0, output: expect.stringMatching(expected?.says ?? /^$/) as string });
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
    for (const [name, range] of Object.entries(others)) expect([name, range]).toEqual([name, peers[name]]);
    expect(Object.keys(devDependencies)).toEqual(["@types/node", "typescript"]);
  });
});

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
  for (const compiler of ["typescript", "typescript-5"] as const) {
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
  const misspelt = installed.paste(installed.folder, "create-toolwright other --template chat");
  expect(misspelt).toEqual({
    code: 1,
    output: expect.stringContaining("Allowed choices are tool, agent, workflow, mcp.") as string,
  });
});

it("has the version of the package, and needs that one", () => {
  const creator = JSON.parse(
    readFileSync(join(installed.folder, "node_modules/create-toolwright/package.json"), "utf8"),
  ) as object;
  const { version, engines } = packageJson;
  expect(creator).toMatchObject({ version, engines, dependencies: { toolwright: `^${version}` } });
});

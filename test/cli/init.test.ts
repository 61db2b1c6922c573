/** `toolwright init`: what it writes, what it keeps, and what it prints. The templates themselves run in templates.test.ts. */
import { existsSync, readFileSync, readdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";

it("writes a workflow by default, and the commands to install, run and test it", async () => {
  const folder = createFolder();
  const init = await toolwright(folder, ["init"]);
  expect(init.code).toBe(0);
  expect(readdirSync(folder).toSorted()).toEqual(
    [
      ".gitignore",
      "package.json",
      "place-order.ts",
      "tsconfig.json",
      "workflow.test.ts",
      "workflow.tsx",
    ].toSorted(),
  );
  expect(init.stdout).toMatch(
    /\nNext:\n {2}npm install +# .*\n {2}npm start +# .*\n {2}npm test +# .*\nThen:\n/,
  );
});

it("writes into a folder that it creates, and quotes its name", async () => {
  const folder = createFolder();
  const made = await toolwright(folder, ["init", "my shop/orders", "--template", "agent", "--json"]);
  expect(made.json()).toMatchObject({
    folder: "my shop/orders",
    template: "agent",
    commands: ["cd 'my shop/orders' && npm install", "npm start", "npm test"],
    kept: [],
    notes: [],
  });
  expect(existsSync(join(folder, "my shop/orders/agent.ts"))).toBe(true);
  expect(existsSync(join(folder, "my shop/orders/AGENTS.md"))).toBe(false);
});

it("writes AGENTS.md only with --agents, and keeps an existing file", async () => {
  const folder = createFolder({ "AGENTS.md": "mine" });
  const kept = await toolwright(folder, ["init", "--template", "tool", "--agents"]);
  expect(kept.stdout).toContain("Kept AGENTS.md.");
  expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).toBe("mine");
  const made = await toolwright(folder, ["init", "new", "--template", "tool", "--agents"]);
  expect(made.stdout).toContain("AGENTS.md");
  expect(readFileSync(join(folder, "new/AGENTS.md"), "utf8")).toMatch(/^# Working on this project\n/);
});

it("keeps a package.json, and prints the command that adds the missing packages", async () => {
  const folder = createFolder({
    "package.json": '{"name":"mine","dependencies":{"toolwright":"file:a.tgz"}}',
  });
  const kept = await toolwright(folder, ["init", "--template", "agent"]);
  expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining("Kept package.json.") });
  expect(readFileSync(join(folder, "package.json"), "utf8")).toContain('{"name":"mine"');
  expect(kept.stdout).toContain(
    "  npm pkg set type=module && npm install 'ai@^7.0.0' 'zod@^4.1.0' && npm install --save-dev ",
  );
  expect(kept.stdout).toMatch(/\n {2}node --experimental-strip-types main\.ts +# runs the agent/);
  expect(kept.stdout).toMatch(/\n {2}npx toolwright test +# /);
  expect(kept.stdout).not.toContain("npm start");
  const complete = createFolder({
    "package.json": JSON.stringify({
      type: "module",
      dependencies: { toolwright: "*", zod: "*" },
      devDependencies: { typescript: "*", "@types/node": "*" },
    }),
  });
  const { stdout } = await toolwright(complete, ["init", "--template", "tool", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    commands: ["npm install", expect.any(String), "npx toolwright test"],
  });
});

it("writes nothing if one of its files exists, or package.json cannot be read", async () => {
  const folder = createFolder({ "workflow.tsx": "mine" });
  const again = await toolwright(folder, ["init"]);
  expect(again.code).toBe(1);
  expect(again.stderr).toMatch(/workflow\.tsx already exists\. Nothing was written/);
  expect(again.stderr).toMatch(/Choose another folder: node \S+main\.js init example$/m);
  writeFileSync(join(folder, "package.json"), "{");
  const broken = await toolwright(folder, ["init", "--template", "tool"]);
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining("package.json is not JSON") });
  expect(readdirSync(folder).toSorted()).toEqual(["package.json", "workflow.tsx"]);
});

it("names the template again if its files exist", async () => {
  const folder = createFolder({ "order.ts": "mine" });
  const { stderr } = await toolwright(folder, ["init", "--template", "tool", "--agents"]);
  expect(stderr).toMatch(/Choose another folder: .* init example --template tool --agents$/m);
});

it("refuses a file as the folder", async () => {
  const folder = createFolder({ notes: "mine" });
  for (const path of ["notes", "notes/project"]) {
    expect(await toolwright(folder, ["init", path])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${path} is a file, or is inside one. Nothing was written.`),
    });
  }
});

it("refuses an unknown template, and lists the known ones", async () => {
  const folder = createFolder();
  const refused = await toolwright(folder, ["init", "--template", "shop"]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("Allowed choices are tool, agent, chat, workflow, mcp.");
  expect(readdirSync(folder)).toEqual([]);
});

it("fails when a test of a workflow fails", async () => {
  const folder = createFolder({
    "a.test.ts":
      'import { test } from "node:test";\nimport assert from "node:assert";\ntest("no", () => assert.ok(false as boolean));',
  });
  expect(await toolwright(folder, ["test"])).toMatchObject({ code: 1 });
});

it("writes nothing through links in the folder, which another user may have made", async () => {
  const folder = createFolder();
  const outside = createFolder();
  for (const name of ["workflow.tsx", "tsconfig.json"]) {
    symlinkSync(join(outside, name), join(folder, name));
    const init = await toolwright(folder, ["init"]);
    expect(readdirSync(outside)).toEqual([]);
    expect(init.code).toBe(name === "tsconfig.json" ? 0 : 1);
    unlinkSync(join(folder, name));
  }
});

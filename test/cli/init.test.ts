/** `toolwright init` in an empty folder, and the commands that it prints, unchanged. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";

it("writes a project that runs, and prints commands that work", async () => {
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
  const commands = init.stdout.split("Try:\n")[1]?.trimEnd().split("\n") ?? [];
  const codes = commands.map((line) => spawnSync("sh", ["-c", line], { cwd: folder }).status);
  //                    up up why approvals approve inspect ps test
  expect(codes).toEqual([0, 3, 0, 0, 0, 0, 0, 0]);
  expect(readFileSync(join(folder, "orders.txt"), "utf8")).toMatch(/^2 apple \S+\n50 pear \S+\n$/);
});

it("prints npm install before the commands to try", async () => {
  const here = await toolwright(createFolder(), ["init"]);
  expect(here.stdout).toMatch(/Install the packages:\n {2}npm install\nTry:\n/);
  const there = await toolwright(createFolder(), ["init", "shop"]);
  expect(there.stdout).toMatch(/Install the packages:\n {2}cd shop\n {2}npm install\nTry:\n/);
  const json = await toolwright(createFolder(), ["init", "--json"]);
  expect(json.json()).toMatchObject({ install: "npm install", notes: [] });
});

it("makes a project without type errors, on TypeScript 5.9 and 7", async () => {
  const project = resolve(import.meta.dirname, "../..");
  const folder = createFolder();
  await toolwright(folder, ["init"]);
  const modules = join(folder, "node_modules");
  const installed = join(modules, "toolwright");
  mkdirSync(join(modules, "@types"), { recursive: true });
  for (const name of ["zod", "@types/node", "undici-types"])
    symlinkSync(join(project, "node_modules", name), join(modules, name));
  mkdirSync(installed);
  copyFileSync(join(project, "package.json"), join(installed, "package.json"));
  const tsc = (compiler: string, cwd: string, ...args: string[]): string =>
    spawnSync(process.execPath, [join(project, "node_modules", compiler, "bin/tsc"), ...args], {
      cwd,
      encoding: "utf8",
    }).stdout;
  const outDir = join(installed, "dist");
  const build = ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", outDir];
  expect(tsc("typescript", project, ...build)).toBe("");
  for (const compiler of ["typescript", "typescript-5"]) {
    expect(tsc(compiler, folder, "--version")).toMatch(compiler === "typescript" ? / 7\./ : / 5\.9\./);
    // As `npm run check` does it.
    expect([compiler, tsc(compiler, folder)]).toEqual([compiler, ""]);
  }
  writeFileSync(
    join(folder, "wrong.ts"),
    'import { placeOrder } from "./place-order.ts";\nplaceOrder.execute({});\n',
  );
  for (const compiler of ["typescript", "typescript-5"])
    expect(tsc(compiler, folder)).toMatch(/wrong\.ts\(2,\d+\): error TS/);
});

it("writes into a folder that it creates", async () => {
  const folder = createFolder();
  const made = await toolwright(folder, ["init", "shop/orders", "--json"]);
  expect(made.json()).toMatchObject({ folder: "shop/orders" });
  const { commands } = made.json() as { commands: string[] };
  expect(commands[0]).toBe("cd shop/orders");
  const script = `${commands[0]} && ${commands[1]}`;
  expect(spawnSync("sh", ["-c", script], { cwd: folder, encoding: "utf8" })).toMatchObject({ status: 0 });
});

it("leaves existing files alone", async () => {
  const folder = createFolder({ "package.json": '{"name":"mine"}' });
  const kept = await toolwright(folder, ["init"]);
  expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining("Kept package.json. It needs") });
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe('{"name":"mine"}');
  writeFileSync(join(folder, "workflow.tsx"), "mine");
  const again = await toolwright(folder, ["init"]);
  expect(again.code).toBe(1);
  expect(again.stderr).toMatch(/already exists\. Nothing was written/);
});

it("fails when a test of a workflow fails", async () => {
  const folder = createFolder({
    "a.test.ts":
      'import { test } from "node:test";\nimport assert from "node:assert";\ntest("no", () => assert.ok(false as boolean));',
  });
  expect(await toolwright(folder, ["test"])).toMatchObject({ code: 1 });
});

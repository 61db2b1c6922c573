/** `toolwright init` in an empty folder, and the commands that it prints, as they stand. */
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";

it("writes what runs, and prints commands that work", async () => {
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
  //                    up up why approvals approve resume ps test
  expect(codes).toEqual([0, 3, 0, 0, 0, 0, 0, 0]);
  expect(readFileSync(join(folder, "orders.txt"), "utf8")).toMatch(/^2 apple \S+\n50 pear \S+\n$/);
});

it("writes into a folder that it makes", async () => {
  const folder = createFolder();
  const made = await toolwright(folder, ["init", "shop/orders", "--json"]);
  expect(made.json()).toMatchObject({ folder: "shop/orders" });
  const { commands } = made.json() as { commands: string[] };
  expect(commands[0]).toBe("cd shop/orders");
  const script = `${commands[0]} && ${commands[1]}`;
  expect(spawnSync("sh", ["-c", script], { cwd: folder, encoding: "utf8" })).toMatchObject({ status: 0 });
});

it("leaves files alone that are there", async () => {
  const folder = createFolder({ "package.json": '{"name":"mine"}' });
  expect(await toolwright(folder, ["init"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe('{"name":"mine"}');
  writeFileSync(join(folder, "workflow.tsx"), "mine");
  const again = await toolwright(folder, ["init"]);
  expect(again.code).toBe(1);
  expect(again.stderr).toMatch(/is there already; nothing was written/);
});

it("fails when a test of a workflow fails", async () => {
  const folder = createFolder({
    "a.test.ts":
      'import { test } from "node:test";\nimport assert from "node:assert";\ntest("no", () => assert.ok(false as boolean));',
  });
  expect(await toolwright(folder, ["test"])).toMatchObject({ code: 1 });
});

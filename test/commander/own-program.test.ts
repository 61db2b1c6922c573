/** A user's program in its own process, with nothing but `registerToolsAsCLI(program)`. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createFolder, toolwright } from "../cli/command.ts";
import { bundled } from "../started-programs.ts";

const PROGRAM = bundled(join(import.meta.dirname, "programs/shop.ts"));
const CAPABLE = join(import.meta.dirname, "programs/capable.ts");

const shop = (folder: string, ...words: string[]) => runProgram(PROGRAM, folder, words);

function runProgram(program: string, folder: string, words: readonly string[], env = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--no-warnings", program, ...words], {
    cwd: folder,
    encoding: "utf8",
    input: "",
    env: { ...process.env, ...env },
  });
  return { code: status, stdout, stderr };
}

it("opens toolwright.db for each call, closes it, and ends", async () => {
  const folder = createFolder();
  const ran = shop(folder, "shop", "order", "apple", "--run-id", "r", "--json");
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ran.stdout)).toMatchObject({ sku: "apple", quantity: 1 });
  const calls = await toolwright(folder, ["calls", "r", "--json"]);
  expect(calls.json()).toMatchObject([{ toolName: "shop_order", status: "success" }]);
  expect(shop(folder, "shop", "order", "apple", "--quantity", "x")).toMatchObject({ code: 2, stdout: "" });
});

it("leaves a request that toolwright approves, and resumes", async () => {
  const folder = createFolder();
  const words = ["shop", "order", "apple", "--quantity", "50", "--run-id", "r"];
  const waiting = shop(folder, ...words);
  expect(waiting.code).toBe(3);
  const [, id = ""] = /npx toolwright approve (\S+)\n/.exec(waiting.stderr) ?? [];
  expect(await toolwright(folder, ["approve", id])).toMatchObject({ code: 0 });
  expect(shop(folder, ...words)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("quantity: 50\n"),
  });
});

it("ends on SIGINT although the tool does not, and the outcome is logged as unknown", async () => {
  const folder = createFolder();
  const child = spawn(process.execPath, ["--no-warnings", PROGRAM, "hang", "--run-id", "r"], { cwd: folder });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  await once(child.stdout, "data");
  child.kill("SIGINT");
  expect(await once(child, "close")).toEqual([130, null]);
  expect(stderr).toContain(
    "The effect may have happened. To resume the call, run the same command again with:",
  );
  expect(stderr).toMatch(/^ {4}--run-id r$/m);
  const calls = await toolwright(folder, ["calls", "r", "--json"]);
  expect(calls.json()).toMatchObject([{ toolName: "hang", status: "unknown", effect: null }]);
});

it.each([{}, { OWN_RUNTIME: "1" }])(
  "prints the capabilities for the group's name alone, and not its help (%j)",
  (env) => {
    const folder = createFolder();
    const capable = (...words: string[]) => runProgram(CAPABLE, folder, ["capabilities", ...words], env);
    const first = capable();
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^# Capabilities\n[^]*- \*\*Shop\*\*: Order something\n/);
    const file = join(folder, ".toolwright/capabilities.md");
    writeFileSync(file, "By hand.\n");
    expect(capable()).toMatchObject({ code: 0, stdout: "By hand.\n" });
    expect(JSON.parse(capable("--json").stdout)).toEqual({ text: "By hand.", refreshed: null });
    expect(JSON.parse(capable("--refresh", "--json").stdout)).toMatchObject({
      text: expect.stringContaining("Order something"),
      refreshed: { written_by: "fixed_summary" },
    });
    expect(JSON.parse(capable("refresh", "--json").stdout)).toMatchObject({ written_by: "fixed_summary" });
    const help = capable("--help");
    expect(help.stdout).toMatch(/Usage: capable capabilities[^]*refresh[^]*Without a command/);
    expect(capable("nonsense").code).toBe(2);
  },
);

/** The crash kit itself. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCrashProgram } from "../../src/testing/index.ts";

const say = new URL("./programs/say.ts", import.meta.url);

test("a program that ends normally has not crashed, and its output is returned", async () => {
  const program = createCrashProgram(say, { args: ["hello"] });
  expect(await program.run({ crashAt: "in-effect" })).toEqual({
    crashed: false,
    stdout: "hello\n",
    stderr: "error hello\n",
  });
});

test("a program that fails by itself rejects with the end of its output", async () => {
  const program = createCrashProgram(say, { args: ["broken", "3"] });
  await expect(program.run()).rejects.toThrow(/exit code 3[^]*error broken/);
});

test("a program that times out is killed, and does not count as crashed", async () => {
  const program = createCrashProgram(say, { args: ["slow", "0", "60000"], timeoutMs: 1_500 });
  await expect(program.run()).rejects.toThrow("did not end within 1500 ms");
});

test("a program may contain a workflow in JSX, and resumes it after a crash", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-crash-kit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = createCrashProgram(new URL("./programs/write-line.tsx", import.meta.url));
  const args = (resume: string): string[] => [folder, resume];
  expect(await program.run({ crashAt: "after-outcome", args: args("") })).toMatchObject({ crashed: true });
  expect(await program.run({ args: args("resume") })).toEqual({
    crashed: false,
    stdout: "finished\n",
    stderr: "",
  });
  expect(readFileSync(join(folder, "lines.txt"), "utf8")).toBe("hello\n");
});

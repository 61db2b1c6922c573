/**
 * A run that sleeps and waits for a signal, on the command line. It exits with 3 while it waits, and no process is left: what
 * it waits for is in the store.
 *
 * Run it with `npm run example waiting`, which is: node examples/waiting/waiting.ts
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "toolwright";
import { TOOLWRIGHT } from "../toolwright-command.ts";

const folder = mkdtempSync(join(tmpdir(), "toolwright-waiting-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const workflow = join(import.meta.dirname, "reminder.tsx");

const sleeping = toolwright("up", workflow, "--run-id", "r-1");
assert.equal(sleeping.code, 3, "it sleeps");
assert.match(sleeping.said, /Task "nap" sleeps until/);

// The signal comes before the run waits for it, and comes twice. It is kept, once.
await using runtime = createRuntime({ store: join(folder, "toolwright.db") });
for (const duplicate of [false, true]) {
  const sent = await runtime.signal("r-1", "answer", { yes: true }, { key: "mail-3" });
  assert.equal(sent.duplicate, duplicate);
}

const ended = toolwright("resume", "r-1", "--wait");
assert.equal(ended.code, 0, "it slept, and found the signal");
assert.match(ended.said, /accepted/);

const late = toolwright("signal", "r-1", "answer", "--payload", '{"yes":false}');
assert.equal(late.code, 1, "a run that has ended takes no signals");
console.log("The run slept, and used the signal once.");

function toolwright(...args: readonly string[]): { readonly code: number | null; readonly said: string } {
  console.log(`$ toolwright ${args.map((arg) => (arg === workflow ? "reminder.tsx" : arg)).join(" ")}`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [TOOLWRIGHT, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  console.log(`${stdout}${stderr}`.trimEnd());
  return { code: status, said: `${stdout}${stderr}` };
}

/** Runs programs of the docs one after another in one process, each in its own empty folder. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Loads .tsx files, as the command does.
await import(new URL("../../../dist/load/register.js", import.meta.url).href);

const files = process.argv.slice(2).map((file) => resolve(file));
for (const file of files) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-docs-"));
  process.chdir(folder);
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    console.log(`FAILED ${file}: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
  }
  const kept = readdirSync(folder);
  // A store that a test leaves behind answers its next run.
  if (file.endsWith(".test.ts") && kept.length > 0) {
    console.log(`FAILED ${file}: it leaves ${kept.join(", ")}`);
    process.exitCode = 1;
  }
  process.chdir(tmpdir());
  rmSync(folder, { recursive: true, force: true });
}
// A program that leaves a timer or a server behind fails here, instead of keeping the process alive.
const left = process.getActiveResourcesInfo().filter((name) => /Timeout|Server|Process/.test(name));
if (left.length > 0) console.log(`FAILED: still active: ${left.join(", ")}`);
process.exit(left.length > 0 ? 1 : process.exitCode);

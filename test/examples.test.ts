/** Every example checks itself and runs offline, against the built package, as a user would run it. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const EXAMPLES = resolve(import.meta.dirname, "../examples");

const programs = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => entry.name)
  .concat("demo/demo.ts");

test.each(programs)("examples/%s runs and checks itself", (name) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(EXAMPLES, name)], {
    encoding: "utf8",
  });
  expect({ status, stderr: status === 0 ? "" : stderr, printed: stdout.length > 0 }).toEqual({
    status: 0,
    stderr: "",
    printed: true,
  });
});

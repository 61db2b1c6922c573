/** Repeats the attacks with planted links and hidden repositories where namespaces are not available. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { attackUnder } from "./attack-harness.ts";
import { denyNamespaces } from "./deny-namespaces.ts";

const base = mkdtempSync(join(tmpdir(), "toolwright-programs-"));
chmodSync(base, 0o755);
attackUnder(denyNamespaces(join(base, "filter")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("under Landlock", async () => {
  await import("./link-attacks.test.ts");
  await import("./hidden-repositories.test.ts");
});

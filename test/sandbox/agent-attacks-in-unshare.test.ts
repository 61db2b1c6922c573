/** Repeats the attacks of an agent with all five tools without bubblewrap on PATH. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { attackWith } from "./attack-harness.ts";
import { pathWithout } from "./tier-agent.ts";

const base = mkdtempSync(join(tmpdir(), "toolwright-programs-"));
chmodSync(base, 0o755);
attackWith(pathWithout({ base }, ["bwrap"]));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("in namespaces made by Perl", async () => {
  await import("./agent-attacks.test.ts");
  await import("./link-attacks.test.ts");
  // What is hidden is one list for all tiers.
  if (IS_EXHAUSTIVE) await import("./hidden-repositories.test.ts");
});

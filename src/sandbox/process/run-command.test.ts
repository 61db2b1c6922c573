import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Isolation, processIsolation } from "../tiers/isolation.ts";
import type { Launch } from "../tiers/launch.ts";
import { planPlain } from "../tiers/none.ts";
import type { PlanRequest } from "../tiers/tier.ts";
import { runCommand } from "./run-command.ts";

let rootDir = "";

beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), "toolwright-run-"));
});
afterEach(() => rmSync(rootDir, { recursive: true, force: true }));

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

/** The first sandbox cannot be started, after the guard of the command has begun to watch. */
function failingOnce(start: (request: PlanRequest) => Launch): Isolation {
  let builds = 0;
  return {
    describe: () => processIsolation.describe(),
    async choose(mode, roots, use) {
      const detected = await processIsolation.choose(mode, roots, use);
      return {
        ...detected,
        plan: (request) => ((builds += 1) === 1 ? start(request) : detected.plan(request)),
      };
    },
  };
}

const run = (on: Isolation): Promise<{ output: string }> =>
  runCommand({
    cmd: "echo",
    args: ["done"],
    rootDir,
    on,
    isolation: "require",
    allowNetwork: false,
    maxOutputBytes: 1_000,
    timeoutMs: 60_000,
  });

test("a sandbox whose mounts fail is built again, and the watcher of the first build is closed", async () => {
  const before = timers();
  const script = 'sleep 0.2; echo "bwrap: Can\'t find source path" >&2; exit 1';
  const on = failingOnce((request) => planPlain({ ...request, cmd: "/bin/sh", args: ["-c", script] }));
  expect((await run(on)).output).toBe("done\n");
  await expect.poll(timers, { timeout: 5_000 }).toBeLessThanOrEqual(before);
});

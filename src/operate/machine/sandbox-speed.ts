/** How long the sandbox takes to start a command that does nothing. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bashTool } from "../../builtin/bash.ts";
import { runWithToolContext } from "../../definition/context.ts";
import { describeIsolation } from "../../sandbox/tiers/isolation.ts";
import { messageOf } from "../../invoke/error-record.ts";
import { isEnoughForCommands } from "../../sandbox/tiers/isolation-tier.ts";
import { type Budget, judge, type Measurement, notMeasured, sample } from "./measurement.ts";

const SLOW_START_MS = 100;

export async function measureSandbox(budget: Budget): Promise<Measurement> {
  const description = await describeIsolation();
  const { tier, remedy } = description;
  // The check of the sandbox has the reason of each tier and the whole advice.
  if (!isEnoughForCommands(description))
    return notMeasured(
      "sandbox",
      "commands cannot be confined on this machine",
      "See the check of the sandbox above.",
    );
  let rootDir: string | undefined;
  try {
    rootDir = mkdtempSync(join(tmpdir(), "toolwright-doctor-"));
    const root = { rootDir };
    const samples = await sample(budget, () => runWithToolContext(root, () => bashTool("true")));
    return judge(
      {
        name: "sandbox",
        what: `the start of a command in the sandbox (${tier})`,
        slowMs: SLOW_START_MS,
        advice:
          remedy ??
          "Processes start slowly here. A virus scanner or an overloaded machine may be the reason.",
      },
      samples,
    );
  } catch (error) {
    budget.signal?.throwIfAborted();
    return notMeasured(
      "sandbox",
      messageOf(error),
      `Commands need a folder for temporary files that can be written: ${tmpdir()}. Set TMPDIR to choose another one.`,
    );
  } finally {
    if (rootDir !== undefined) rmSync(rootDir, { recursive: true, force: true });
  }
}

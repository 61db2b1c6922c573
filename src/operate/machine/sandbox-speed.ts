/** How long the sandbox takes to start a command that does nothing. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bashTool } from "../../builtin/bash.ts";
import { runWithToolContext } from "../../definition/context.ts";
import { describeIsolation } from "../../sandbox/tiers/isolation.ts";
import { isEnoughForCommands } from "../../sandbox/tiers/isolation-tier.ts";
import { judge, type Measurement, notMeasured, sample } from "./measurement.ts";

const SLOW_START_MS = 100;

export async function measureSandbox(budgetMs: number): Promise<Measurement> {
  const description = await describeIsolation();
  const { tier, reason, remedy } = description;
  if (!isEnoughForCommands(description))
    return notMeasured("sandbox", reason ?? "commands cannot be confined on this machine", remedy ?? null);
  const rootDir = mkdtempSync(join(tmpdir(), "toolwright-doctor-"));
  try {
    const samples = await sample(budgetMs, () => runWithToolContext({ rootDir }, () => bashTool("true")));
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
  } finally {
    rmSync(rootDir, { recursive: true, force: true });
  }
}

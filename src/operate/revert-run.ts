/** Reverts the effects of a run: of all its tasks, or of one task and everything after it. */
import { aBoolean, aFullText, aRunId } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import { planReverts } from "../runtime/revert/plan-reverts.ts";
import type { RevertReport } from "../runtime/revert/revert-report.ts";
import { previewReverts, type RevertRun, runReverts } from "../runtime/revert/run-reverts.ts";
import type { RevertOptions } from "../runtime/runtime.ts";
import type { Transaction } from "../store/store.ts";
import { endForRevert, ownersAtWork, sealForRevert } from "../store/tables/reverts.ts";
import { lockRun, readRun } from "../store/tables/workflow-runs.ts";
import { specOf } from "../tool/create-callable.ts";
import { settingsOfRun } from "../workflow/run-options.ts";
import { type CommandSyntax, toCommand } from "./commands.ts";
import { requireRun } from "./describe-run.ts";
import { selectFrom } from "./select-from.ts";
import { describeOwner, readLivingOwner } from "./run-owner.ts";

export const REVERT_OPTIONS: OptionTable = optionTable<RevertOptions>(
  "runtime.revert",
  { runId: aRunId, from: aFullText, dryRun: aBoolean },
  { required: ["runId"], example: '{ runId: "order-17" }' },
);

/** @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, TOOL_RUN_CONFLICT for a run in progress, TOOL_OPTION_INVALID */
export async function revertRun(
  host: Host,
  options: RevertOptions,
  syntax: CommandSyntax,
): Promise<RevertReport> {
  checkOptions(REVERT_OPTIONS, options);
  const { runId, from, dryRun = false } = options;
  const { row } = await requireRun(host.store, runId);
  const select = await selectFrom(host.store, runId, from);
  const run = {
    runId,
    kind: row.kind,
    machine: row.host,
    settings: settingsOfRun((await host.store.read(() => readRun(runId)))?.optionsJson),
    builtIn: await builtInTools(),
  };
  const plan = () => planReverts(host.store, runId, select);
  if (dryRun) {
    await assertIdle(host, runId, syntax);
    return previewReverts(host, run, await plan());
  }
  return oneAtATime(host, runId, () => begin(host, run, plan, syntax));
}

/** Another process may take the run while its owners are checked: then they are checked again. */
class Changed extends Error {}

async function begin(
  host: Host,
  run: Omit<RevertRun, "guard">,
  plan: Parameters<typeof runReverts>[2],
  syntax: CommandSyntax,
): Promise<RevertReport> {
  const { runId } = run;
  for (;;) {
    const judged = await assertIdle(host, runId, syntax);
    const guard = function* (): Transaction<void> {
      yield* lockRun(runId);
      if ((yield* ownersAtWork(runId)).join() !== judged.join()) throw new Changed();
      const now = host.clock.now();
      yield* endForRevert(runId, now);
      yield* sealForRevert(runId, now);
    };
    try {
      return await runReverts(host, { ...run, guard }, plan);
    } catch (error) {
      if (error instanceof Changed) continue;
      if (ToolwrightError.is(error) && error.code === "TOOL_RUN_CONFLICT") throw revertedElsewhere(runId);
      throw error;
    }
  }
}

/** Returns the owners, all of them dead. @throws TOOL_RUN_CONFLICT */
async function assertIdle(host: Host, runId: string, syntax: CommandSyntax): Promise<string[]> {
  const owners = await host.store.read(() => ownersAtWork(runId));
  for (const ownerId of owners) {
    if (!(await host.isOwnerAlive(ownerId))) continue;
    const owner = await readLivingOwner(host.store, ownerId);
    const where = owner === undefined ? "" : ` in ${describeOwner(owner)}`;
    throw new ToolwrightError(
      "TOOL_RUN_CONFLICT",
      `Run "${runId}" is running${where}, so its effects cannot be reverted now.`,
      {
        details: { runId },
        hint: `Stop it first: ${toCommand(syntax, "cancel", [runId])}. Or wait until it has ended.`,
      },
    );
  }
  return owners;
}

async function oneAtATime<T>(host: Host, runId: string, work: () => Promise<T>): Promise<T> {
  const name = `revert ${runId}`;
  if (host.activeRuns.has(name)) throw revertedElsewhere(runId);
  host.activeRuns.add(name);
  try {
    return await work();
  } finally {
    host.activeRuns.delete(name);
  }
}

function revertedElsewhere(runId: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_CONFLICT",
    `Run "${runId}" is being reverted already, here or in another process.`,
    { details: { runId }, hint: "Wait until that revert has ended, then look at its result." },
  );
}

/** Loaded only for a revert. */
export async function builtInTools(): Promise<ReadonlyMap<string, ToolSpec>> {
  const { tools } = await import("../builtin/tools.ts");
  return new Map(Object.values(tools).map((tool) => [tool.name, specOf(tool)]));
}

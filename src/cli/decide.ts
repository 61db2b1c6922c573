/** Puts a person's decision on record, and says what comes next. */
import type { ApprovalDecision } from "../runtime/approvals.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readRun } from "../store/workflow-runs.ts";
import { userName } from "../util/user-name.ts";
import { approvalRow } from "./approval-row.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./command.ts";
import { nextCommand } from "./command-name.ts";
import { assertStoreExists } from "./open.ts";
import type { CommonOptions, Screen } from "./screen.ts";

export interface DecisionOptions extends CommonOptions {
  readonly by?: string;
  readonly comment?: string;
}

export async function decide(
  screen: Screen,
  options: DecisionOptions,
  named: string,
  decision: Pick<ApprovalDecision, "approved" | "approvedArgs" | "happened">,
): Promise<number> {
  assertStoreExists(options.store);
  await using runtime = createRuntime({ store: options.store });
  const id = await requestOf(runtime, named);
  const settled = await runtime.resolveToolApproval(id, {
    ...decision,
    decidedBy: options.by ?? userName(),
    comment: options.comment,
  });
  screen.tell(approvalRow(settled));
  screen.say(
    `${decision.approved ? screen.paint("green", "approved") : screen.paint("red", "denied")} ${id}`,
  );
  const open = await runtime.approvals({ status: "pending", runId: settled.runId });
  if (open.length > 0) screen.say(`  Run ${settled.runId} waits for ${open.length} more.`);
  else screen.say(`  Go on with:  ${await howToGoOn(runtime, settled.runId, options.store)}`);
  return EXIT.finished;
}

/** A workflow is resumed; a call of a command or a program is made again, and found. */
async function howToGoOn(runtime: Runtime, runId: string, store: string): Promise<string> {
  const host = await hostOf(runtime);
  const run = await host.store.read(() => readRun(runId));
  return run === undefined
    ? `the same command again, with --run-id ${runId}`
    : nextCommand(store, "resume", runId);
}

/** A request, or a run that waits for one thing only. */
async function requestOf(runtime: Runtime, named: string): Promise<string> {
  const waiting = await runtime.approvals({ status: "pending", runId: named });
  const [only] = waiting;
  if (only === undefined) return named;
  if (waiting.length === 1) return only.id;
  throw new CliError(
    "CLI_USAGE",
    `Run "${named}" waits for ${waiting.length} decisions.`,
    `Name one of them: ${waiting.map(({ id }) => id).join(", ")}`,
  );
}

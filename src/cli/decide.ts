/** Puts a person's decision on record, and says what comes next. */
import { userInfo } from "node:os";
import type { ApprovalDecision } from "../runtime/approvals.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
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
  else screen.say(`  Go on with:  ${nextCommand(options.store, "resume", settled.runId)}`);
  return EXIT.finished;
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

function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in the system's list has no name to put on record.
    return undefined;
  }
}

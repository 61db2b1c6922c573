/** Puts a person's decision on record, and says what comes next. */
import { userInfo } from "node:os";
import type { ApprovalDecision } from "../runtime/approvals.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import { approvalRow } from "./approval-row.ts";
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
  id: string,
  decision: Pick<ApprovalDecision, "approved" | "approvedArgs" | "happened">,
): Promise<number> {
  assertStoreExists(options.store);
  await using runtime = createRuntime({ store: options.store });
  const settled = await runtime.resolveToolApproval(id, {
    ...decision,
    decidedBy: options.by ?? userName(),
    comment: options.comment,
  });
  screen.tell(approvalRow(settled));
  screen.say(`${decision.approved ? screen.paint("green", "approved") : screen.paint("red", "denied")} ${id}`);
  const open = await runtime.approvals({ status: "pending", runId: settled.runId });
  if (open.length > 0) screen.say(`  Run ${settled.runId} waits for ${open.length} more.`);
  else screen.say(`  Go on with:  ${nextCommand(options.store, "resume", settled.runId)}`);
  return EXIT.finished;
}

function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in the system's list has no name to put on record.
    return undefined;
  }
}

/** Explains a run that is not a workflow: of an agent, a program or a single call. Its own process or command resumes it. */
import type { Store } from "../store/store.ts";
import { mayQueueAgain } from "../store/tables/program-claims.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import { systemClock } from "../util/clock.ts";
import { toDuration, toShortText } from "../terminal/readable.ts";
import { readApprovals } from "../runtime/approvals.ts";
import type { KnownRun } from "./describe-run.ts";
import { errorOf } from "./described-error.ts";
import type { ExplainedSteps } from "./explain-run.ts";
import { denial, pendingRequest } from "./explain-workflow.ts";
import { listRequests } from "./list-requests.ts";
import { answerSteps, type NextStep, nextStep } from "./next-step.ts";
import { describeOpenCalls } from "./open-calls.ts";
import { describeOwner, readLivingOwner } from "./run-owner.ts";
import { readOutlook } from "./worker-outlook.ts";

const MOST_REQUESTS = 20;
const LONGEST_ERROR = 1_000;

export async function explainProgram(store: Store, { row, summary }: KnownRun): Promise<ExplainedSteps> {
  const { runId, status } = summary;
  const name = `Run ${toTerminalName(runId)} of ${nameOf(summary)}`;
  const calls = nextStep("calls", runId);
  switch (status) {
    case "finished": {
      const took = toDuration((summary.finishedAtMs ?? summary.updatedAtMs) - summary.createdAtMs);
      return { status, because: [`${name} finished after ${took}.`], next: [nextStep("inspect", runId)] };
    }
    case "waiting-approval":
      return { status, ...(await explainWaiting(store, summary, name)) };
    case "failed": {
      const again = await explainAgain(store, { row, summary });
      const error = errorOf(row.errorJson);
      const reason = toShortText(error?.message ?? "no reason was recorded", LONGEST_ERROR);
      const hint = error === null || error.hint === "" ? [] : [toShortText(error.hint, LONGEST_ERROR)];
      return {
        status,
        because: [
          `${name} failed: ${reason}`,
          ...hint,
          ...(await describeOpenCalls(store, runId)),
          ...again.because,
        ],
        next: [...again.next, calls],
      };
    }
    case "cancelled": {
      const again = await explainAgain(store, { row, summary });
      return { status, because: [`${name} was cancelled.`, ...again.because], next: [...again.next, calls] };
    }
    case "queued": {
      const because =
        row.readyAtMs === null
          ? [`${name} has not started.`, againBy(summary, "To start it")]
          : [`${name} waits for a worker.`];
      return { status, because, next: [nextStep("cancel", runId)] };
    }
    case "running":
    case "waiting-timer":
    case "waiting-signal":
      return { status, ...(await explainRunning(store, { row, summary }, name)) };
  }
}

type Reasons = Omit<ExplainedSteps, "status">;

/** How a run that has ended without success continues: by a worker that has run it before, or by its own program. */
async function explainAgain(store: Store, { row, summary }: KnownRun): Promise<Reasons> {
  const { runId } = summary;
  if (!(await store.read(() => mayQueueAgain(runId)))) return { because: [againBy(summary)], next: [] };
  const { mayTake, because } = await readOutlook(store, row);
  const resume = nextStep("resume", runId);
  return mayTake
    ? { because: ["A worker runs it again if it is resumed."], next: [resume] }
    : {
        because: ["A worker runs it again if it is resumed.", because],
        next: [resume, { ...nextStep("worker"), label: "Start a worker that knows it" }],
      };
}

async function explainRunning(store: Store, { row, summary }: KnownRun, name: string): Promise<Reasons> {
  const { runId, interrupted } = summary;
  const owner = interrupted ? undefined : await readLivingOwner(store, row.ownerId);
  const because = interrupted
    ? `${name} was interrupted: its process ended before the run did.`
    : `${name} is running${owner === undefined ? "" : ` in ${describeOwner(owner)}`}.`;
  return {
    because: [
      because,
      ...(await describeOpenCalls(store, runId)),
      ...(interrupted ? [againBy(summary)] : []),
    ],
    next: [nextStep("inspect", runId), ...(interrupted ? [nextStep("cancel", runId)] : [])],
  };
}

async function explainWaiting(store: Store, summary: KnownRun["summary"], name: string): Promise<Reasons> {
  const { runId } = summary;
  const { requests, total } = await listRequests(store, { runId, status: "pending" }, MOST_REQUESTS);
  if (requests.length === 0) {
    const denied = await readApprovals({ store, clock: systemClock }, { runId, status: "denied" });
    return {
      because: [
        `${name} waited for approval, and every request has been decided.`,
        ...denied.map(denial),
        againBy(summary),
      ],
      next: [nextStep("inspect", runId)],
    };
  }
  const hidden = total - requests.length;
  const steps: NextStep[] = requests.flatMap((request) => answerSteps(request));
  return {
    because: [
      `${name} waits for approval.`,
      ...requests.map(pendingRequest),
      ...(hidden > 0 ? [`${hidden} more requests are not shown here.`] : []),
      againBy(summary, "After the decision"),
    ],
    next: [...steps, ...(hidden > 0 ? [nextStep("approvals", undefined, ["--run", runId])] : [])],
  };
}

function nameOf({ kind, name }: KnownRun["summary"]): string {
  const what = { agent: "the agent", program: "a program", tool: "the tool", workflow: "the workflow" }[kind];
  return name === "" || kind === "program" ? what : `${what} "${toTerminalName(name)}"`;
}

/** Only the author of a program knows how it is started. */
function againBy({ runId, kind }: KnownRun["summary"], when = "To continue it"): string {
  switch (kind) {
    case "tool":
      return `${when}, run the same command with --run-id ${toTerminalName(runId)}; an MCP client sends the same request.`;
    case "agent":
      return `${when}, run its program: it invokes the agent with the same run id and input.`;
    case "program":
    case "workflow":
      return `${when}, run its program again with the same run id.`;
  }
}

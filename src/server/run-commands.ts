/** Starts, cancels and resumes runs over HTTP. */
import type { z } from "zod";
import { nearestName } from "../definition/nearest-name.ts";
import { ToolwrightError } from "../errors.ts";
import { describeOwner } from "../operate/run-owner.ts";
import { findRun } from "../operate/find-run.ts";
import { listWorkers } from "../operate/list-workers.ts";
import { cancelAnyRun, requestResume } from "../operate/steer-run.ts";
import { readWorkflowOrigin } from "../operate/workflow-origin.ts";
import type { Opened } from "./backend.ts";
import { HttpError } from "./http-error.ts";
import type { RouteInput } from "./route.ts";
import type { START } from "./schemas.ts";

type RunInput = RouteInput<{ readonly id: string }, unknown, unknown>;
type StartInput = RouteInput<unknown, unknown, z.infer<typeof START>>;

/** @throws HttpError 404, WORKFLOW_INPUT_INVALID, WORKFLOW_RUN_EXISTS */
export function startFrom({ backend, workflows, body }: StartInput): Promise<unknown> {
  const { workflow: name, input, runId } = body;
  const source = workflows.find(name);
  return backend.use(async ({ runtime, store }) => {
    const workers = (await listWorkers(store)).filter(({ status }) => status === "active");
    const served = workers.flatMap(({ serves }) => serves.map((one) => one.name));
    if (served.includes(name)) {
      if (source !== undefined) await workflows.checkInput(source, input);
      if (runId !== undefined) await assertFree(store, runId);
      return runtime.enqueue(name, { input, runId });
    }
    if (source === undefined) throw unknownWorkflow(name, [...new Set([...workflows.names, ...served])]);
    return { runId: await workflows.start(runtime, source, body) };
  });
}

/** A client that sends the same request again must learn that the run exists. */
async function assertFree(store: Opened["store"], runId: string): Promise<void> {
  const { kind } = await findRun(store, runId);
  if (kind === "missing") return;
  throw new ToolwrightError("WORKFLOW_RUN_EXISTS", `Run "${runId}" already exists.`, { details: { runId } });
}

function unknownWorkflow(name: string, names: readonly string[]): HttpError {
  const near = nearestName(name, names);
  return new HttpError(
    "HTTP_NOT_FOUND",
    `There is no workflow ${JSON.stringify(name.slice(0, 200))}.${near === undefined ? "" : ` Did you mean "${near}"?`}`,
    names.length === 0
      ? "This server serves no workflows: name them under workflows in toolwright.config, or pass them to serve()."
      : `This server serves: ${names.join(", ")}.`,
  );
}

/** The answer does not wait for the owner to stop: event streams and the next read show that. */
const CANCEL_WAIT_MS = 500;

/** @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, TOOL_RUN_CONFLICT */
export function cancelFrom({ backend, params: { id: runId } }: RunInput): Promise<unknown> {
  return backend.use(async ({ store }) => {
    const { outcome, status, owner } = await cancelAnyRun(store, runId, { waitMs: CANCEL_WAIT_MS });
    if (outcome === "already-ended") {
      throw new ToolwrightError(
        "TOOL_RUN_CONFLICT",
        `Run "${runId}" has ${status} already; there is nothing to stop.`,
        { details: { runId, status }, hint: "Nothing was changed." },
      );
    }
    const where = owner === undefined ? "Its process" : describeOwner(owner);
    const message = outcome === "requested" ? `${where} was asked to stop the run.` : `The run is ${status}.`;
    return { runId, status, message };
  });
}

/** @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED, TOOL_RUN_CONFLICT */
export function resumeFrom({ backend, workflows, params: { id: runId } }: RunInput): Promise<unknown> {
  return backend.use(async ({ runtime, store, syntax }) => {
    const origin = await readWorkflowOrigin(store, runId);
    const source = origin === undefined ? undefined : workflows.findFor(runId, origin);
    const answer = await requestResume(store, runId, syntax, { isServedHere: source !== undefined });
    // With a command, no process resumes it yet.
    if (answer.by !== null || source === undefined)
      return { ...answer, resumed: answer.by !== null && answer.command === null };
    await workflows.resume(runtime, source, runId);
    return { ...answer, resumed: true, by: "server", message: "This server resumes the run.", command: null };
  });
}

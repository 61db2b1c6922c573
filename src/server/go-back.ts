/** Forks and reverts runs over HTTP. */
import type { z } from "zod";
import { requestResume } from "../operate/steer-run.ts";
import { readWorkflowOrigin } from "../operate/workflow-origin.ts";
import type { RouteInput } from "./route.ts";
import type { FORK, REVERT } from "./schemas.ts";

type ForkInput = RouteInput<{ readonly id: string }, unknown, z.infer<typeof FORK>>;
type RevertInput = RouteInput<{ readonly id: string }, unknown, z.infer<typeof REVERT>>;

/** @throws TOOL_FORK_INVALID, TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED */
export function forkFrom({ backend, params: { id: runId }, body = {} }: ForkInput): Promise<unknown> {
  return backend.use(async ({ runtime, store, syntax }) => {
    const fork = await runtime.fork({ ...body, runId });
    if (fork.dryRun) return { ...fork, message: "Nothing was changed.", command: null };
    const { message, command } = await requestResume(store, fork.runId, syntax);
    return { ...fork, message, command };
  });
}

/** @throws TOOL_RUN_CONFLICT, TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED */
export function revertFrom({
  backend,
  workflows,
  params: { id: runId },
  body = {},
}: RevertInput): Promise<unknown> {
  return backend.use(async ({ runtime, store }) => {
    await workflows.loadFor(runId, await readWorkflowOrigin(store, runId));
    return runtime.revert({ ...body, runId });
  });
}

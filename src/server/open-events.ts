/** Opens the event stream of one run, or of the list of runs. */
import type { z } from "zod";
import { listShownApprovals } from "../operate/list-approvals.ts";
import { listCallPage } from "../operate/list-call-page.ts";
import type { Backend } from "./backend.ts";
import type { RouteInput } from "./route.ts";
import type { EVENTS_QUERY } from "./schemas.ts";
import { withNulls } from "./with-nulls.ts";
import { listTopic, runTopic } from "./topics.ts";

type Input = RouteInput<unknown, z.infer<typeof EVENTS_QUERY>, unknown>;

/** The newest calls: older ones are read page by page from `/runs/:id/calls`. */
const CALLS = 100;
const REQUESTS = 100;

export function openEvents({ backend, streams, query }: Input): Promise<Response> {
  const { run, ...filter } = query;
  if (run !== undefined) return streams.open(runTopic(run, () => readRun(backend, run)));
  const key = JSON.stringify(filter);
  return streams.open(listTopic(key, () => backend.read(({ runtime }) => runtime.runs(filter))));
}

/**
 * The data of a run's page, in one event. Without the explanation: its sentences contain ages, which change all the
 * time.
 */
function readRun(backend: Backend, runId: string) {
  return backend.read(async ({ runtime, store }) => {
    const run = await runtime.describeRun(runId);
    const recentCalls = await listCallPage(store, runId, { limit: CALLS });
    const approvals = (await listShownApprovals(store, { runId, status: "pending", limit: REQUESTS })).map(
      withNulls,
    );
    return { ...run, recentCalls, approvals };
  });
}

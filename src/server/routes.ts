/** The table of routes: method, path, schemas, scope and operation. Everything else about the API is derived from it. */
import { readManifest } from "../load/package-root.ts";
import { requireRun } from "../operate/describe-run.ts";
import { listShownApprovals, readShownApproval } from "../operate/list-approvals.ts";
import { listCallPage } from "../operate/list-call-page.ts";
import { countRequests } from "../operate/list-requests.ts";
import { listWorkers } from "../operate/list-workers.ts";
import { readVersion } from "../operate/open-for-operators.ts";
import { readCallPart } from "../operate/read-call-part.ts";
import { readRunValue } from "../operate/read-run-value.ts";
import { signalRun } from "../operate/signal-run.ts";
import { readWorkflowOrigin } from "../operate/workflow-origin.ts";
import { decideFrom } from "./decide.ts";
import { openEvents } from "./open-events.ts";
import { describeApi } from "./openapi.ts";
import { forkFrom, revertFrom } from "./go-back.ts";
import { cancelFrom, resumeFrom, startFrom } from "./run-commands.ts";
import { type Route, route } from "./route.ts";
import * as schema from "./schemas.ts";
import { signInPath } from "./sign-in.ts";
import { withNulls } from "./with-nulls.ts";

export const ROUTES: readonly Route[] = [
  route({
    id: "listRuns",
    summary: "Runs of every kind, newest first",
    method: "GET",
    path: "/runs",
    scope: "read",
    query: schema.RUNS_QUERY,
    status: 200,
    response: schema.RUNS,
    operate: ({ backend, query }) => backend.read(({ runtime }) => runtime.runs(query)),
  }),
  route({
    id: "startRun",
    summary: "Enqueues a run for the workers, or starts one of a served workflow here",
    method: "POST",
    path: "/runs",
    scope: "operate",
    body: schema.START,
    status: 202,
    response: schema.STARTED,
    operate: startFrom,
  }),
  route({
    id: "describeRun",
    summary: "One run, with its tree of tasks",
    method: "GET",
    path: "/runs/:id",
    scope: "read",
    params: schema.RUN_PARAMS,
    status: 200,
    response: schema.DESCRIBED_RUN,
    operate: ({ backend, params }) => backend.read(({ runtime }) => runtime.describeRun(params.id)),
  }),
  route({
    id: "explainRun",
    summary: "Why a run has its status, and what can be done next",
    method: "GET",
    path: "/runs/:id/why",
    scope: "read",
    params: schema.RUN_PARAMS,
    status: 200,
    response: schema.EXPLANATION,
    operate: ({ backend, workflows, params: { id } }) =>
      backend.read(async ({ runtime, store }) => {
        const explanation = await runtime.explainRun(id);
        const origin = await readWorkflowOrigin(store, id);
        return {
          ...explanation,
          resumesHere: origin !== undefined && workflows.findFor(id, origin) !== undefined,
        };
      }),
  }),
  route({
    id: "readRunValue",
    summary: "The input or output of a workflow's run, or the output of a task, in pieces",
    method: "GET",
    path: "/runs/:id/values",
    scope: "read",
    params: schema.RUN_PARAMS,
    query: schema.VALUE_QUERY,
    status: 200,
    response: schema.PART,
    operate: ({ backend, params: { id: runId }, query: { part, task, path = "", offset } }) =>
      backend.read(({ store }) =>
        readRunValue(store, {
          runId,
          part,
          offset,
          task: task === undefined ? undefined : { nodeId: task, path },
        }),
      ),
  }),
  route({
    id: "listCalls",
    summary: "The calls of a run, newest first, without long values",
    method: "GET",
    path: "/runs/:id/calls",
    scope: "read",
    params: schema.RUN_PARAMS,
    query: schema.CALLS_QUERY,
    status: 200,
    response: schema.CALLS,
    operate: ({ backend, params, query }) =>
      backend.read(async ({ store }) => {
        await requireRun(store, params.id);
        return listCallPage(store, params.id, query);
      }),
  }),
  route({
    id: "cancelRun",
    summary: "Asks the owner of a run to stop it, or records it as cancelled",
    method: "POST",
    path: "/runs/:id/cancel",
    scope: "operate",
    params: schema.RUN_PARAMS,
    body: schema.EMPTY_BODY,
    status: 202,
    response: schema.CANCELLED,
    operate: cancelFrom,
  }),
  route({
    id: "resumeRun",
    summary: "Resumes a run here, or returns the command that resumes it",
    method: "POST",
    path: "/runs/:id/resume",
    scope: "operate",
    params: schema.RUN_PARAMS,
    body: schema.EMPTY_BODY,
    status: 202,
    response: schema.RESUMED,
    operate: resumeFrom,
  }),
  route({
    id: "signalRun",
    summary: "Sends a signal to a run of a workflow",
    method: "POST",
    path: "/runs/:id/signal",
    scope: "operate",
    params: schema.RUN_PARAMS,
    body: schema.SIGNAL,
    status: 202,
    response: schema.SIGNALLED,
    operate: ({ backend, params: { id: runId }, body }) =>
      backend.use(({ store, syntax }) => signalRun(store, syntax, { runId, ...body })),
  }),
  route({
    id: "forkRun",
    summary: "Creates a run from the part of another run before a task or call",
    method: "POST",
    path: "/runs/:id/fork",
    scope: "operate",
    params: schema.RUN_PARAMS,
    body: schema.FORK,
    status: 202,
    response: schema.FORKED,
    operate: forkFrom,
  }),
  route({
    id: "revertRun",
    summary: "Reverts the effects of a run, or reports what a revert would do",
    method: "POST",
    path: "/runs/:id/revert",
    scope: "operate",
    params: schema.RUN_PARAMS,
    body: schema.REVERT,
    status: 202,
    response: schema.REVERTED,
    operate: revertFrom,
  }),
  route({
    id: "listSchedules",
    summary: "Schedules by name, each with its next time",
    method: "GET",
    path: "/schedules",
    scope: "read",
    status: 200,
    response: schema.SCHEDULES,
    operate: ({ backend }) =>
      backend.read(async ({ runtime }) => ({ schedules: await runtime.schedules.list() })),
  }),
  route({
    id: "readCallPart",
    summary: "The input, output or error of a call, in pieces",
    method: "GET",
    path: "/calls/:key/:attempt",
    scope: "read",
    params: schema.CALL_PARAMS,
    query: schema.PART_QUERY,
    status: 200,
    response: schema.PART,
    operate: ({ backend, params, query: { part, run: runId, offset } }) =>
      backend.read(({ store }) => readCallPart(store, { ...params, runId }, part, offset)),
  }),
  route({
    id: "listApprovals",
    summary: "Approval requests, oldest first, and the total number of matches",
    method: "GET",
    path: "/approvals",
    scope: "read",
    query: schema.APPROVALS_QUERY,
    status: 200,
    response: schema.APPROVALS,
    operate: ({ backend, query: { status, run: runId, limit = 200 } }) =>
      backend.read(async ({ store }) => {
        const filter = { status, runId };
        const approvals = (await listShownApprovals(store, { ...filter, limit })).map(withNulls);
        return { approvals, total: await countRequests(store, filter) };
      }),
  }),
  route({
    id: "describeApproval",
    summary: "One approval request, pending or settled",
    method: "GET",
    path: "/approvals/:id",
    scope: "read",
    params: schema.RUN_PARAMS,
    status: 200,
    response: schema.APPROVAL,
    operate: ({ backend, params }) =>
      backend.read(async ({ store }) => withNulls(await readShownApproval(store, params.id))),
  }),
  route({
    id: "decideApproval",
    summary: "Decides an approval request. The token is recorded as the approver",
    method: "POST",
    path: "/approvals/:id/decision",
    scope: "decide",
    params: schema.RUN_PARAMS,
    body: schema.DECISION,
    status: 200,
    response: schema.APPROVAL,
    operate: decideFrom,
  }),
  route({
    id: "listWorkers",
    summary: "The workers of the store, oldest first",
    method: "GET",
    path: "/workers",
    scope: "read",
    status: 200,
    response: schema.WORKERS,
    operate: ({ backend }) => backend.read(async ({ store }) => ({ workers: await listWorkers(store) })),
  }),
  route({
    id: "streamEvents",
    summary: "Server-sent events: a snapshot of the list or of one run, then patches",
    method: "GET",
    path: "/events",
    scope: "read",
    query: schema.EVENTS_QUERY,
    status: 200,
    response: null,
    operate: openEvents,
  }),
  route({
    id: "describeSession",
    summary: "Who the caller is, and what the caller may do",
    method: "GET",
    path: "/session",
    scope: "read",
    status: 200,
    response: schema.SESSION,
    operate: ({ caller: { name, scopes }, readOnly, workflows }) => ({
      name,
      scopes: readOnly ? scopes.filter((scope) => scope === "read") : scopes,
      readOnly,
      workflows: workflows.names,
      version: readManifest().version,
    }),
  }),
  route({
    id: "createSignInLink",
    summary: "A link that signs one browser in, once, with the name and scopes of the token",
    method: "POST",
    path: "/sign-in-links",
    scope: "read",
    body: schema.EMPTY_BODY,
    status: 200,
    response: schema.SIGN_IN_LINK,
    operate: ({ tokens, caller, origin }) => ({
      signInUrl: `${origin}${signInPath(tokens.createCode(caller))}`,
    }),
  }),
  route({
    id: "describeApi",
    summary: "This description",
    method: "GET",
    path: "/openapi.json",
    scope: "read",
    status: 200,
    response: schema.OPENAPI,
    operate: ({ origin }) => describeApi(ROUTES, readManifest().version, origin),
  }),
  route({
    id: "checkHealth",
    summary: "Whether the server answers, and whether it can use its store",
    method: "GET",
    path: "/healthz",
    scope: null,
    status: 200,
    response: schema.HEALTH,
    operate: async ({ backend }) => ({
      status: "ok",
      store: await backend.read(readVersion).then(
        () => "ok",
        () => "unavailable",
      ),
    }),
  }),
];

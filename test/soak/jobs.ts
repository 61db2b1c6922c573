/** Starts jobs and waits for their ends, as the users of a system do. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Runtime } from "../../src/index.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { first } from "../../src/store/statement.ts";
import { runChat } from "./chat-job.ts";
import { BY_SIGNAL, type Job } from "./plan.ts";
import { toPrompt } from "./programs/model.ts";
import { EXIT_STORE_FAILED, EXIT_WAITING, TOKEN } from "./programs/soak-process.ts";
import { ORDER_SIGNAL } from "./programs/steps-workflow.ts";
import type { Slot } from "./slot.ts";
import type { Tally } from "./tally.ts";

export interface JobHost {
  readonly runtime: Runtime;
  readonly chat: Slot;
  readonly server: Slot;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

const LOOK_MS = 250;
export const STEADY = "-steady";

/** Resolves when the job has ended well. @param script the slot that runs its script @throws when its run has failed */
export function runJob(job: Job, host: JobHost, script: Slot): Promise<void> {
  switch (job.kind) {
    case "script":
      return runScript(job, script, host);
    case "chat":
      return runChat(job, host.chat, host.tally, host.signal);
    case "served-workflow":
      return runServed(job, host);
    case "waiting-workflow":
      return runWaiting(job, host);
    default:
      return runByWorker(job, host);
  }
}

async function runByWorker(job: Job, host: JobHost): Promise<void> {
  const { kind, steps } = job;
  const type = kind === "workflow" || kind === "program" ? kind : "agent";
  await enqueue(job, host, type, kind === "smart-agent" ? toPrompt(steps) : { steps });
  await untilFinished(job.runId, host);
}

/** The first orders come as signals. Their sender repeats itself: an order that arrived twice would be placed twice. */
async function runWaiting(job: Job, host: JobHost): Promise<void> {
  await enqueue(job, host, "workflow", { steps: job.steps.slice(BY_SIGNAL) });
  await Promise.all([sendOrders(job, host), untilFinished(job.runId, host)]);
}

async function sendOrders({ runId, steps }: Job, host: JobHost): Promise<void> {
  for (const [n, step] of steps.slice(0, BY_SIGNAL).entries())
    for (const _ of ["first", "again"])
      await insist(host, async () => {
        try {
          const { duplicate } = await host.runtime.signal(runId, ORDER_SIGNAL, step, { key: `order ${n}` });
          host.tally.count(duplicate ? "signals again" : "signals");
        } catch (error) {
          // It was stored, and its run has ended meanwhile.
          if ((await stateOf(host.runtime, runId)) !== "finished") throw error;
        }
      });
}

function enqueue(
  { runId, kind, isSteady }: Job,
  host: JobHost,
  type: "workflow" | "program" | "agent",
  input: unknown,
): Promise<unknown> {
  const name = `${kind}${isSteady ? STEADY : ""}`;
  return insist(host, () => host.runtime.enqueue(name, { runId, input, kind: type }));
}

/** Started again until it has ended well, as by a supervisor. */
async function runScript({ runId, steps }: Job, slot: Slot, { signal }: JobHost): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { code, signal: killed, stderr } = await slot.once({ runId, steps });
    if (code === 0) return;
    if (code === EXIT_STORE_FAILED || code === EXIT_WAITING) await sleep(LOOK_MS);
    // 143: it was terminated in good order.
    else if (killed === null && code !== 143) {
      slot.crashed(code, stderr);
      throw new Error(`${runId} has failed`);
    }
  }
}

async function post({ server }: JobHost, path: string, body: object): Promise<number> {
  const url = await server.url();
  if (url === undefined) throw new Error("the server is not there");
  const response = await fetch(`${url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  await response.text();
  return response.status;
}

async function runServed({ runId, kind, steps }: Job, host: JobHost): Promise<void> {
  await insist(host, async () => {
    const status = await post(host, "/runs", { workflow: kind, input: { steps }, runId });
    // 409: an earlier request has started it.
    if (status !== 202 && status !== 409) throw new Error(`POST /runs was answered ${status}`);
  });
  // 409: it runs, or has ended meanwhile. A server that is terminated cancels what it runs.
  await untilFinished(runId, host, true);
}

/** Until it works: the database may be down, the server dead, the disk full. */
async function insist<T>({ tally, signal }: JobHost, work: () => Promise<T>): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      tally.trace(`client: ${String(error).slice(0, 300)}`);
      await sleep(LOOK_MS);
    }
  }
}

/** @param isServed no worker resumes it, even after it was cancelled */
async function untilFinished(runId: string, host: JobHost, isServed = false): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    const state = await insist(host, () => stateOf(host.runtime, runId));
    if (state === "finished") return;
    const hasFailed = state === "failed" || (state === "cancelled" && !isServed);
    if (hasFailed) await assertCrashLoop(runId, host);
    if (hasFailed || (isServed && looks % 2 === 0))
      await post(host, `/runs/${runId}/resume`, {}).catch(() => undefined);
    await sleep(LOOK_MS);
  }
}

/** On a slow machine workers may die five times in a row before they make progress. An operator then resumes the run. */
async function assertCrashLoop(runId: string, host: JobHost): Promise<void> {
  const { why, status, error } = await insist(host, () => host.runtime.describeRun(runId));
  if (error?.code !== "WORKFLOW_CRASH_LOOP") throw new Error(`${runId} is ${status}: ${why}`);
  host.tally.count("crash loops");
}

export async function stateOf(runtime: Runtime, runId: string): Promise<unknown> {
  const { store } = await hostOf(runtime);
  const row = await store.read(() => first("SELECT state FROM toolwright_runs WHERE id = ?1", runId));
  return row?.["state"];
}

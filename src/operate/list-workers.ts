/** The workers of a store: what they serve, what they are running, and whether they are alive. */
import { isOwnerLive } from "../runtime/owner-liveness.ts";
import type { Store } from "../store/store.ts";
import type { Labels } from "../store/tables/runs.ts";
import type { Served } from "../store/tables/queue.ts";
import { type ListedWorker, listWorkerRows } from "../store/tables/workers.ts";

export interface WorkerSummary {
  readonly workerId: string;
  /** Host name and process id. */
  readonly name: string;
  /** `dead`: its lease has expired, or its process is gone. Its runs are taken over. */
  readonly status: "active" | "draining" | "dead";
  readonly build: string | null;
  readonly labels: Labels;
  readonly serves: readonly Served[];
  readonly sharedRoot: boolean;
  readonly concurrency: number;
  /** How many runs it is running. */
  readonly runs: number;
  readonly startedAtMs: number;
  /** When it last renewed its lease. */
  readonly seenAtMs: number;
  /** Where it runs. Owners distinguish hosts in the same way. */
  readonly host: string;
}

/** Oldest first. A dead worker is listed until retention deletes it. */
export async function listWorkers(store: Store): Promise<WorkerSummary[]> {
  return (await store.read(listWorkerRows)).map(toSummary);
}

function toSummary(worker: ListedWorker): WorkerSummary {
  const { owner } = worker;
  return {
    workerId: worker.ownerId,
    name: worker.name,
    status: isOwnerLive(owner) ? worker.state : "dead",
    build: worker.build,
    labels: JSON.parse(worker.labelsJson) as Labels,
    serves: JSON.parse(worker.servesJson) as Served[],
    sharedRoot: worker.sharedRoot,
    concurrency: worker.concurrency,
    runs: worker.runs,
    startedAtMs: worker.startedAtMs,
    seenAtMs: worker.seenAtMs ?? worker.startedAtMs,
    host: owner.host,
  };
}

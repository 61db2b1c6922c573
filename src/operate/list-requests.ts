/** Approval requests, oldest first, with the total number of matches. */
import type { Approval } from "../invoke/approval.ts";
import { readApprovals } from "../runtime/approvals.ts";
import type { Store } from "../store/store.ts";
import { type ApprovalFilter, countApprovals } from "../store/tables/approvals.ts";
import { systemClock } from "../util/clock.ts";
import { resumableAmong } from "./is-resumable.ts";

export interface RequestList {
  readonly requests: readonly Approval[];
  readonly total: number;
  /** The runs of pending requests that can be resumed by their id. */
  readonly resumable: ReadonlySet<string>;
}

export async function listRequests(
  store: Store,
  filter: Pick<ApprovalFilter, "runId" | "status">,
  limit: number,
): Promise<RequestList> {
  const requests = await readApprovals({ store, clock: systemClock }, { ...filter, limit });
  const pending = requests.filter(({ status }) => status === "pending");
  return {
    requests,
    total: await countRequests(store, filter),
    resumable: await resumableAmong(
      store,
      pending.map(({ runId }) => runId),
    ),
  };
}

export function countRequests(
  store: Store,
  filter: Pick<ApprovalFilter, "runId" | "status">,
): Promise<number> {
  return store.read(() => countApprovals(filter, systemClock.now()));
}

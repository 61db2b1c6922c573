/** All approval requests. Pending ones first, since these wait for someone. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "./api.ts";
import { ApprovalForm } from "./approval-form.tsx";
import { count } from "./format.ts";
import { useKeptApprovals } from "./keep-settled.ts";
import { useLive } from "./live.ts";
import { Empty, LiveState, Loading, ProblemBox, Title, useNow } from "./parts.tsx";
import { address, go, withQuery } from "./router.ts";
import type { Approval, RunPage } from "./types.ts";

/** Expiry is not a commit, and a run with a request may still be running: no event of the list announces these. */
const READ_EVERY_MS = 2_000;
const NONE: readonly Approval[] = [];
const WAITING_RUNS = { status: "waiting-approval", limit: "200" } as const;
const STATUSES = ["pending", "approved", "denied", "expired", "void"] as const;

export function ApprovalList() {
  const status = address.value.query.get("status") ?? "pending";
  // The rows of runs that wait change with their requests: their events say when to read the requests again.
  const live = useLive<RunPage>(WAITING_RUNS, (list, patch) => ({ ...list, ...patch }));
  const [approvals, setApprovals] = useState<readonly Approval[]>();
  const [total, setTotal] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const shown = useKeptApprovals(approvals ?? NONE, status);
  const now = useNow();
  useEffect(() => {
    const abort = new AbortController();
    const read = async (): Promise<void> => {
      try {
        const page = await get<{ approvals: readonly Approval[]; total: number }>(
          "approvals",
          { status },
          abort.signal,
        );
        setApprovals(page.approvals);
        setTotal(page.total);
        setProblem(undefined);
      } catch (error) {
        if (!abort.signal.aborted) setProblem(asProblem(error));
      }
    };
    void read();
    const timer = setInterval(() => void read(), READ_EVERY_MS);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [status, live.data]);
  return (
    <main>
      <Title document="Approvals">Approvals</Title>
      <form class="filters" aria-label="Filter approvals" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>Status</span>
          <select
            value={status}
            onChange={(event) => go("approvals", withQuery({ status: event.currentTarget.value }), "replace")}
          >
            {STATUSES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </form>
      <div class="bar">
        <LiveState live={live} />
        {approvals === undefined ? null : (
          <span class="muted small">
            {total > approvals.length ? `The oldest ${approvals.length} of ` : ""}
            {count(total, "request")}
          </span>
        )}
      </div>
      {problem === undefined ? null : <ProblemBox problem={problem} title="The requests cannot be read" />}
      {approvals === undefined ? (
        problem === undefined ? (
          <Loading />
        ) : null
      ) : shown.length === 0 ? (
        <Empty
          title={status === "pending" ? "Nothing waits for approval." : `There are no ${status} requests.`}
        />
      ) : (
        shown.map((approval) => <ApprovalForm key={approval.id} approval={approval} now={now} showRun />)
      )}
    </main>
  );
}

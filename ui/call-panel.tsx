/** One call in full: arguments, output and error, and the outcome of its approval. */
import { useEffect, useRef, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "./api.ts";
import { decisionOf, duration, moment } from "./format.ts";
import { Badge, Fact, ProblemBox } from "./parts.tsx";
import type { Approval, CallRow } from "./types.ts";
import { Value } from "./value.tsx";

const PARTS = [
  ["input", "Arguments"],
  ["output", "Output"],
  ["error", "Error"],
] as const;

interface CallPanelProps {
  readonly runId: string;
  readonly call: CallRow;
  readonly onClose: () => void;
}

export function CallPanel({ runId, call, onClose }: CallPanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section
      class="panel call-row"
      aria-labelledby="call"
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <div class="bar">
        <h3 id="call" tabIndex={-1} ref={heading}>
          {call.toolName}
        </h3>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <dl class="facts">
        <Fact name="Status">
          <Badge status={call.status} />
        </Fact>
        <Fact name="Started">{moment(call.startedAtMs)}</Fact>
        {call.durationMs === null ? null : <Fact name="Took">{duration(call.durationMs)}</Fact>}
        <Fact name="Task">{call.nodeId}</Fact>
        <Fact name="Attempt">{call.attempt}</Fact>
        <Fact name="Tries">{call.tries}</Fact>
        {call.replayed || call.fromCache ? (
          <Fact name="Result from">{call.replayed ? "an earlier attempt" : "the cache"}</Fact>
        ) : null}
        {call.isolation === null ? null : <Fact name="Isolation">{call.isolation}</Fact>}
        <Fact name="Key">
          <code>{call.key}</code>
        </Fact>
        {call.parentKey === null ? null : (
          <Fact name="Called by">
            <code>{call.parentKey}</code>
          </Fact>
        )}
      </dl>
      {call.approvalId === null ? null : <CallApproval id={call.approvalId} status={call.status} />}
      {PARTS.map(([part, title]) => (
        <Value
          key={part}
          title={title}
          path={`calls/${encodeURIComponent(call.key)}/${call.attempt}`}
          query={{ part, run: runId }}
          version={call.status}
        />
      ))}
    </section>
  );
}

/** The request that the call waits or waited for. It is decided in its form above; here it shows the outcome. */
function CallApproval({ id, status }: { id: string; status: string }) {
  const [approval, setApproval] = useState<Approval>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    const abort = new AbortController();
    get<Approval>(`approvals/${encodeURIComponent(id)}`, {}, abort.signal).then(
      setApproval,
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(error));
      },
    );
    return () => abort.abort();
  }, [id, status]);
  return (
    <div class="part">
      <h4>Approval</h4>
      {problem === undefined ? null : <ProblemBox problem={problem} title="The approval cannot be read" />}
      {approval === undefined ? null : (
        <>
          <div class="line">
            <Badge status={approval.status} />
            <span>{approval.prompt}</span>
          </div>
          <p class="muted small">
            requested {moment(approval.requestedAtMs)}
            {approval.decidedAtMs === null ? "" : `, ${decisionOf(approval)}`}
            {approval.comment === null ? "" : `: ${approval.comment}`}
          </p>
        </>
      )}
    </div>
  );
}

/** The calls of a run, newest first. Only the rows in view are in the document, so that 10,000 calls scroll. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "./api.ts";
import { CallPanel } from "./call-panel.tsx";
import { count, duration, roughly, taskName } from "./format.ts";
import { Badge, Empty, ProblemBox } from "./parts.tsx";
import { address, go, withQuery } from "./router.ts";
import { type Span, TimeBar } from "./time-bar.tsx";
import type { CallPage, CallRow, LiveRun } from "./types.ts";

/** As in the style sheet. */
const ROW_PX = 37;
const EXTRA_ROWS = 12;
const PAGE = 1_000;

function idOf({ key, attempt }: Pick<CallRow, "key" | "attempt">): string {
  return `${attempt} ${key}`;
}

/** The live newest calls, and the older pages that were loaded below them. */
function useCalls(run: LiveRun) {
  const [older, setOlder] = useState<readonly CallRow[]>([]);
  const [next, setNext] = useState<string | null>();
  const [problem, setProblem] = useState<Problem>();
  const isLoading = useRef(false);
  const { calls: recent, next: afterRecent } = run.recentCalls;
  // Calls that leave the live part stay in the table. The clock of the page renders it too, so it is sorted only if it changed.
  const seen = useRef(new Map<string, CallRow>());
  const calls = useMemo(() => {
    for (const call of [...older, ...recent]) seen.current.set(idOf(call), call);
    return [...seen.current.values()].toSorted(
      (one, other) => other.startedAtMs - one.startedAtMs || other.seq - one.seq,
    );
  }, [older, recent]);
  const cursor = next === undefined ? afterRecent : next;
  const loadMore = async (): Promise<void> => {
    if (isLoading.current || cursor === null) return;
    isLoading.current = true;
    try {
      const page = await get<CallPage>(`runs/${encodeURIComponent(run.runId)}/calls`, {
        before: cursor,
        limit: String(PAGE),
      });
      setOlder((before) => [...before, ...page.calls]);
      setNext(page.next);
      setProblem(undefined);
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      isLoading.current = false;
    }
  };
  return { calls, hasMore: cursor !== null, loadMore, problem };
}

export function CallTable({ run, span, now }: { run: LiveRun; span: Span; now: number }) {
  const { calls, hasMore, loadMore, problem } = useCalls(run);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  // Every call of another run is made in its one task.
  const hasTasks = run.kind === "workflow";
  const selected = address.value.query.get("call");
  const open = calls.find((call) => idOf(call) === selected);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / ROW_PX) - EXTRA_ROWS);
  // The whole height from the start: one movement of the scroll bar reaches the first call, and loads what is needed.
  const total = hasMore ? Math.max(calls.length, run.calls) : calls.length;
  const last = Math.min(total, Math.ceil((top + height) / ROW_PX) + EXTRA_ROWS);
  const shown = calls.slice(first, last);
  const above = Math.min(first, calls.length);
  const below = total - above - shown.length;
  const isNearEnd = hasMore && last >= calls.length - EXTRA_ROWS;
  useEffect(() => {
    if (isNearEnd && problem === undefined) void loadMore();
  });
  if (calls.length === 0) return <Empty title="This run has made no calls." />;
  return (
    <>
      <p class="muted small">
        {count(total, "call")}, newest first{last > calls.length ? " · loading…" : ""}
      </p>
      <div
        class="scroll"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label="Calls, scrollable"
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <table aria-label="Calls" aria-rowcount={total + 1}>
          <thead>
            <tr>
              <th scope="col" class="tool">
                Tool
              </th>
              {hasTasks ? (
                <th scope="col" class="wide task">
                  Task
                </th>
              ) : null}
              <th scope="col" class="call-status">
                Status
              </th>
              <th scope="col" class="wide">
                Input
              </th>
              <th scope="col" class="wide">
                Output
              </th>
              <th scope="col" class="wide">
                Timeline
              </th>
              <th scope="col" class="time">
                Time
              </th>
            </tr>
          </thead>
          <tbody>
            {above > 0 ? <Spacer rows={above} /> : null}
            {shown.map((call, index) => (
              <Row
                key={idOf(call)}
                call={call}
                index={first + index + 2}
                span={span}
                now={now}
                isOpen={call === open}
                hasTask={hasTasks}
              />
            ))}
            {below > 0 ? <Spacer rows={below} /> : null}
          </tbody>
        </table>
      </div>
      {problem === undefined ? null : <ProblemBox problem={problem} title="Older calls cannot be read" />}
      {open === undefined ? null : (
        <CallPanel key={idOf(open)} runId={run.runId} call={open} onClose={() => select(undefined)} />
      )}
    </>
  );
}

function select(call: CallRow | undefined): void {
  go(address.value.path, withQuery({ call: call === undefined ? "" : idOf(call) }), "replace");
}

function Spacer({ rows }: { rows: number }) {
  return (
    <tr aria-hidden="true" style={{ height: `${rows * ROW_PX}px` }}>
      <td colSpan={7} />
    </tr>
  );
}

interface RowProps {
  readonly call: CallRow;
  readonly index: number;
  readonly span: Span;
  readonly now: number;
  readonly isOpen: boolean;
  readonly hasTask: boolean;
}

function Row({ call, index, span, now, isOpen, hasTask }: RowProps) {
  const isOver = call.status !== "started" && call.status !== "pending";
  const ms = call.durationMs ?? (isOver ? undefined : Math.max(0, now - call.startedAtMs));
  return (
    <tr aria-rowindex={index} class={isOpen ? "call-row open" : "call-row"}>
      <td>
        <button
          type="button"
          class="link id"
          title={call.toolName}
          aria-expanded={isOpen}
          onClick={() => select(isOpen ? undefined : call)}
        >
          {call.toolName}
        </button>
      </td>
      {hasTask ? (
        <td class="wide muted small" title={taskName(call)}>
          {taskName(call)}
        </td>
      ) : null}
      <td>
        <Badge status={call.status} />
        {call.tries > 1 ? <Badge status="note">{call.tries} tries</Badge> : null}
        {call.replayed ? <Badge status="note">replayed</Badge> : null}
        {call.fromCache ? <Badge status="note">cached</Badge> : null}
        {call.approvalId === null ? null : <Badge status="note">approval</Badge>}
      </td>
      <td class="wide preview">{call.inputPreview}</td>
      <td class={`wide preview ${call.error === null ? "" : "failed"}`}>
        {call.error === null ? call.outputPreview : call.error.message}
      </td>
      <td class="wide">
        <TimeBar
          span={span}
          startedAtMs={call.startedAtMs}
          ms={ms ?? 0}
          status={call.replayed ? "replayed" : call.status}
        />
      </td>
      <td class="time">
        {ms === undefined ? "" : call.status === "pending" ? `waits ${roughly(ms)}` : duration(ms)}
      </td>
    </tr>
  );
}

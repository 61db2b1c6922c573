/** One run: why it has its status, what can be done next, its tasks, its calls and its approvals, live. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, get, post, type Problem } from "./api.ts";
import { ApprovalForm } from "./approval-form.tsx";
import { CallTable } from "./call-table.tsx";
import { count, duration, kindAndName } from "./format.ts";
import { useLive } from "./live.ts";
import { Ago, Badge, Command, LiveState, ProblemBox, RunLink, Title, useNow } from "./parts.tsx";
import { SignalForm } from "./signal-form.tsx";
import { RunTree } from "./run-tree.tsx";
import type { Explanation, LiveRun, NextStep } from "./types.ts";

export function RunView({ runId }: { runId: string }) {
  const live = useLive<LiveRun>({ run: runId }, (run, patch) => ({ ...run, ...patch }));
  const { data: run, problem } = live;
  const isGone = problem?.status === 404;
  return (
    <main>
      <div class="bar">
        <Title document={runId}>
          <span class="id">{runId}</span>
        </Title>
        <LiveState live={live} />
      </div>
      {problem === undefined ? null : (
        <ProblemBox problem={problem} title={isGone ? "This run does not exist" : "The run cannot be read"} />
      )}
      {run === undefined ? (
        problem === undefined ? (
          <p>Loading…</p>
        ) : null
      ) : (
        <Details run={run} isGone={isGone} />
      )}
    </main>
  );
}

function Details({ run, isGone }: { run: LiveRun; isGone: boolean }) {
  const now = useNow();
  const { because, next } = useExplanation(run);
  const end = run.finishedAtMs ?? now;
  const signals = run.waits.filter(({ kind, isOver }) => kind === "signal" && !isOver);
  return (
    <>
      {isGone ? <p class="hint">The run was deleted. What follows is the last that was seen of it.</p> : null}
      <div class="line">
        <Badge status={run.interrupted ? "interrupted" : run.status} />
        <span>{kindAndName(run)}</span>
        <span class="muted">
          started <Ago at={run.createdAtMs} now={now} />
        </span>
        <span class="muted">
          {run.finishedAtMs === null
            ? duration(end - run.createdAtMs)
            : `took ${duration(end - run.createdAtMs)}`}
        </span>
        <span class="muted">{count(run.calls, "call")}</span>
        {run.lineage.parent === null ? null : (
          <span class="muted">
            fork of <RunLink runId={run.lineage.parent} />
          </span>
        )}
      </div>
      <section aria-labelledby="why">
        <h2 id="why">Why</h2>
        {because.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {run.error?.message === undefined ||
        because.some((one) => one.includes(run.error?.message ?? "")) ? null : (
          <pre class="error">{run.error.message}</pre>
        )}
        {isGone ? null : <Steps run={run} next={next} />}
      </section>
      {run.approvals.length === 0 ? null : (
        <section aria-labelledby="approvals">
          <h2 id="approvals">Waiting for approval</h2>
          {run.approvals.map((approval) => (
            <ApprovalForm key={approval.id} approval={approval} now={now} showRun={false} />
          ))}
        </section>
      )}
      {signals.length === 0 ? null : (
        <section aria-labelledby="signals">
          <h2 id="signals">Waiting for a signal</h2>
          {signals.map((wait) => (
            <SignalForm key={`${wait.nodeId} ${wait.path}`} runId={run.runId} wait={wait} />
          ))}
        </section>
      )}
      {run.tree.length === 0 ? null : (
        <section aria-labelledby="tasks">
          <h2 id="tasks">Tasks</h2>
          <RunTree nodes={run.tree} now={now} />
        </section>
      )}
      <section aria-labelledby="calls">
        <h2 id="calls">Calls</h2>
        <CallTable run={run} now={now} />
      </section>
      {run.lineage.forks.length === 0 ? null : (
        <section aria-labelledby="forks">
          <h2 id="forks">Forks</h2>
          <ul>
            {run.lineage.forks.map((fork) => (
              <li key={fork}>
                <RunLink runId={fork} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Read again with every change of the run. Until then the summary of the list explains it. */
function useExplanation(run: LiveRun): Explanation {
  const [explanation, setExplanation] = useState<Explanation>({ because: [run.why], next: [] });
  useEffect(() => {
    const abort = new AbortController();
    get<Explanation>(`runs/${encodeURIComponent(run.runId)}/why`, {}, abort.signal).then(
      setExplanation,
      () => {
        // The event stream reports a run or a store that is gone.
        if (!abort.signal.aborted) setExplanation({ because: [run.why], next: [] });
      },
    );
    return () => abort.abort();
  }, [run.runId, run.status, run.interrupted, run.updatedAtMs, run.pendingApprovals, run.calls, run.waits]);
  return explanation;
}

interface Answer {
  readonly message: string;
  readonly command?: string | null;
}

const OVER = new Set(["finished", "failed", "cancelled"]);
/** These have buttons of their own on this page. */
const WITH_BUTTON = new Set(["cancel", "resume"]);

function Steps({ run, next }: { run: LiveRun; next: readonly NextStep[] }) {
  const [isBusy, setBusy] = useState(false);
  const [isSure, setSure] = useState(false);
  const [answer, setAnswer] = useState<Answer>();
  const [problem, setProblem] = useState<Problem>();
  const send = async (action: "cancel" | "resume"): Promise<void> => {
    setBusy(true);
    setSure(false);
    setAnswer(undefined);
    setProblem(undefined);
    try {
      setAnswer(await post<Answer>(`runs/${encodeURIComponent(run.runId)}/${action}`));
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  const canCancel = !OVER.has(run.status);
  const canResume = next.some(({ action }) => action === "resume") || run.interrupted;
  const others = next.filter(({ action }) => !WITH_BUTTON.has(action));
  return (
    <>
      <div class="actions">
        {canResume ? (
          <button type="button" disabled={isBusy} onClick={() => void send("resume")}>
            Resume run
          </button>
        ) : null}
        {canCancel && !isSure ? (
          <button type="button" class="danger" disabled={isBusy} onClick={() => setSure(true)}>
            Cancel run
          </button>
        ) : null}
        {canCancel && isSure ? (
          <span class="sure" role="group" aria-label="Cancel this run?">
            <span>Cancel this run?</span>
            <button type="button" class="danger" disabled={isBusy} onClick={() => void send("cancel")}>
              Yes, cancel it
            </button>
            <button type="button" class="quiet" onClick={() => setSure(false)}>
              No
            </button>
          </span>
        ) : null}
      </div>
      {answer === undefined ? null : (
        <div class="answer" aria-live="polite">
          <p>{answer.message}</p>
          {answer.command == null ? null : <Command text={answer.command} />}
        </div>
      )}
      {problem === undefined ? null : <ProblemBox problem={problem} title="The request was refused" />}
      {others.length === 0 ? null : (
        <details class="steps">
          <summary>On the command line</summary>
          <ul>
            {others.map(({ label, command }) => (
              <li key={command}>
                {label} <Command text={command} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** One run: why it has its status, what can be done next, its tasks, its calls and its approvals, live. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, get, post, type Problem } from "./api.ts";
import { ApprovalForm } from "./approval-form.tsx";
import { CallTable } from "./call-table.tsx";
import { duration, kindAndName } from "./format.ts";
import { GoBack } from "./go-back.tsx";
import { useKeptApprovals } from "./keep-settled.ts";
import { useLive } from "./live.ts";
import {
  Ago,
  Badge,
  Command,
  Fact,
  LiveState,
  Loading,
  ProblemBox,
  RunLink,
  Title,
  useNow,
} from "./parts.tsx";
import { onLink } from "./router.ts";
import { leavesOf, RunTree } from "./run-tree.tsx";
import { may } from "./session.ts";
import { SignalForm } from "./signal-form.tsx";
import type { Span } from "./time-bar.tsx";
import type { Explanation, LiveRun, NextStep } from "./types.ts";
import { Value } from "./value.tsx";

export function RunView({ runId }: { runId: string }) {
  const live = useLive<LiveRun>({ run: runId }, (run, patch) => ({ ...run, ...patch }));
  const { data: run, problem } = live;
  const isGone = problem?.status === 404;
  return (
    <main>
      <nav class="crumbs small" aria-label="Breadcrumb">
        <a href="." onClick={onLink}>
          All runs
        </a>
      </nav>
      <div class="bar">
        <Title document={runId}>
          <span class="id">{runId}</span>
        </Title>
        <LiveState live={live}>
          {run === undefined ? null : <Badge status={run.interrupted ? "interrupted" : run.status} />}
        </LiveState>
      </div>
      {problem === undefined ? null : (
        <ProblemBox problem={problem} title={isGone ? "This run does not exist" : "The run cannot be read"} />
      )}
      {run === undefined ? problem === undefined ? <Loading /> : null : <Details run={run} isGone={isGone} />}
    </main>
  );
}

function Details({ run, isGone }: { run: LiveRun; isGone: boolean }) {
  const now = useNow();
  const { because, next, resumesHere } = useExplanation(run);
  const approvals = useKeptApprovals(run.approvals, run.runId);
  const end = run.finishedAtMs ?? now;
  const signals = run.waits.filter(({ kind, isOver }) => kind === "signal" && !isOver);
  return (
    <>
      {isGone ? <p class="hint">The run was deleted. This is its last known state.</p> : null}
      <dl class="facts">
        <Fact name="Kind">{kindAndName(run)}</Fact>
        <Fact name="Started">
          <Ago at={run.createdAtMs} now={now} />
        </Fact>
        <Fact name={run.finishedAtMs === null ? "Open for" : "Took"}>{duration(end - run.createdAtMs)}</Fact>
        <Fact name="Tasks">{progressOf(run)}</Fact>
        <Fact name="Calls">{run.calls.toLocaleString("en")}</Fact>
        {run.lineage.parent === null ? null : (
          <Fact name="Fork of">
            <RunLink runId={run.lineage.parent} />
          </Fact>
        )}
        {Object.keys(run.labels).length === 0 ? null : (
          <Fact name="Labels">
            {Object.entries(run.labels).map(([name, value]) => (
              <a
                class="label"
                key={name}
                href={`?${new URLSearchParams({ label: `${name}=${value}` }).toString()}`}
                onClick={onLink}
              >
                {name}={value}
              </a>
            ))}
          </Fact>
        )}
      </dl>
      <section aria-labelledby="why" class={`callout ${run.interrupted ? "interrupted" : run.status}`}>
        <h2 id="why">Why</h2>
        {because
          // The form of a request below says the same.
          .filter((sentence) => !run.approvals.some(({ id }) => sentence.includes(id)))
          .map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        {run.error?.message === undefined ||
        because.some((one) => one.includes(run.error?.message ?? "")) ? null : (
          <pre class="error">{run.error.message}</pre>
        )}
        {isGone ? null : <Steps run={run} next={next} resumesHere={resumesHere} />}
        {isGone || !may("operate") ? null : <GoBack run={run} />}
      </section>
      {approvals.length === 0 ? null : (
        <section aria-labelledby="approvals">
          <h2 id="approvals">{run.approvals.length === 0 ? "Decided just now" : "Waiting for approval"}</h2>
          {approvals.map((approval) => (
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
      {run.kind === "workflow" ? <Values run={run} /> : null}
      {run.tree.length === 0 ? null : (
        <section aria-labelledby="tasks">
          <h2 id="tasks">Tasks</h2>
          <RunTree runId={run.runId} nodes={run.tree} span={spanOf(run, now)} now={now} />
        </section>
      )}
      <section aria-labelledby="calls">
        <h2 id="calls">Calls</h2>
        <CallTable run={run} span={spanOf(run, now)} now={now} />
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

/** The input of the run, and its outcome. */
function Values({ run: { runId, status } }: { run: LiveRun }) {
  const path = `runs/${encodeURIComponent(runId)}/values`;
  return (
    <section aria-label="Input and output" class="values">
      <Value heading="h2" title="Input" path={path} query={{ part: "input" }} version="" />
      <Value heading="h2" title="Output" path={path} query={{ part: "output" }} version={status} />
    </section>
  );
}

function progressOf({ tree, tasks }: LiveRun): string {
  const all = leavesOf(tree);
  const done = all.filter(({ status }) => status === "finished" || status === "skipped").length;
  return all.length === 0 ? String(tasks) : `${done} of ${all.length} done`;
}

/** The time that bars stand for. A run that waits makes no progress, so its waiting would only shorten them. */
function spanOf(run: LiveRun, now: number): Span {
  const isActive = run.status === "running" && !run.interrupted;
  const end = isActive ? now : Math.max(run.finishedAtMs ?? 0, run.updatedAtMs);
  // A run may wait long for a worker before its first task starts.
  const starts = leavesOf(run.tree).flatMap(({ startedAtMs }) => startedAtMs ?? []);
  const from = starts.reduce((one, other) => Math.min(one, other), starts[0] ?? run.createdAtMs);
  return { from, to: Math.max(end, from + 1) };
}

/** Read again with every change of the run. Until then the summary of the list explains it. */
function useExplanation(run: LiveRun): Explanation {
  const [explanation, setExplanation] = useState<Explanation>(() => unexplained(run));
  useEffect(() => {
    const abort = new AbortController();
    get<Explanation>(`runs/${encodeURIComponent(run.runId)}/why`, {}, abort.signal).then(
      setExplanation,
      () => {
        // The event stream reports a run or a store that is gone.
        if (!abort.signal.aborted) setExplanation(unexplained(run));
      },
    );
    return () => abort.abort();
  }, [run.runId, run.status, run.interrupted, run.updatedAtMs, run.pendingApprovals, run.calls, run.waits]);
  return explanation;
}

function unexplained({ why }: LiveRun): Explanation {
  return { because: [why], next: [], resumesHere: false };
}

interface Answer {
  readonly message: string;
  readonly command?: string | null;
}

/** Nothing runs it, and what it waited for has come. */
function isIdle({ status, pendingApprovals, waits, revertedAtMs }: LiveRun): boolean {
  if (revertedAtMs !== null) return false;
  const canContinue = pendingApprovals === 0 && (waits.length === 0 || waits.some(({ isOver }) => isOver));
  return status === "failed" || status === "cancelled" || (status.startsWith("waiting") && canContinue);
}

/** A resume would only wait again. */
function isEarly({ waits, pendingApprovals }: LiveRun): boolean {
  return pendingApprovals === 0 && waits.length > 0 && waits.every(({ isOver }) => !isOver);
}

const OVER = new Set(["finished", "failed", "cancelled"]);

interface StepsProps {
  readonly run: LiveRun;
  readonly next: readonly NextStep[];
  readonly resumesHere: boolean;
}

function Steps({ run, next, resumesHere }: StepsProps) {
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
  // What was asked for has happened, or can no longer happen.
  useEffect(() => setAnswer(undefined), [OVER.has(run.status)]);
  const canCancel = may("operate") && !OVER.has(run.status);
  const hasStep = (name: string): boolean => next.some(({ action }) => action === name);
  // A queued run whose next step is a worker: none takes it, but this server can run it.
  const isStartable = resumesHere && (isIdle(run) || hasStep("worker"));
  const canResume = may("operate") && !isEarly(run) && (hasStep("resume") || run.interrupted || isStartable);
  return (
    <>
      <div class="actions">
        {canResume ? (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void send("resume")}>
            Resume run
          </button>
        ) : null}
        {canCancel && !isSure ? (
          <button type="button" class="danger outline" disabled={isBusy} onClick={() => setSure(true)}>
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
      {next.length === 0 ? null : (
        <details class="steps">
          <summary>On the command line</summary>
          <ul>
            {next.map(({ label, command }) => (
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

/** Forks and reverts a run. Both show first what would happen, and change nothing until that is confirmed. */
import { useState } from "preact/hooks";
import { asProblem, post, type Problem } from "./api.ts";
import { count } from "./format.ts";
import { notice } from "./notice.ts";
import { Command, ProblemBox, RunLink } from "./parts.tsx";
import { leavesOf } from "./run-tree.tsx";
import type { ForkAnswer, LiveRun, RevertAnswer, RevertEntry } from "./types.ts";

type Effects = "ask" | "reuse" | "run";

export function GoBack({ run }: { run: LiveRun }) {
  return (
    <details class="steps">
      <summary>Fork or revert</summary>
      <ForkForm run={run} />
      <RevertForm run={run} />
    </details>
  );
}

function useRequest<T>(path: string) {
  const [isBusy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<T>();
  const [problem, setProblem] = useState<Problem>();
  const send = async (body: object): Promise<T | undefined> => {
    setBusy(true);
    setProblem(undefined);
    setAnswer(undefined);
    try {
      const found = await post<T>(path, body);
      setAnswer(found);
      return found;
    } catch (error) {
      setProblem(asProblem(error));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, answer, problem, send, clear: () => setAnswer(undefined) };
}

const EFFECTS: readonly (readonly [Effects, string])[] = [
  ["ask", "Ask about each"],
  ["reuse", "Take the earlier result"],
  ["run", "Run them again"],
];

function ForkForm({ run }: { run: LiveRun }) {
  const ids = [...new Set(leavesOf(run.tree).map(({ nodeId }) => nodeId))];
  const [at, setAt] = useState(run.status === "finished" ? (ids[0] ?? "") : "");
  const [effects, setEffects] = useState<Effects>("ask");
  const { isBusy, answer, problem, send, clear } = useRequest<ForkAnswer>(
    `runs/${encodeURIComponent(run.runId)}/fork`,
  );
  const body = { ...(at === "" ? {} : { at }), effects };
  const fork = async (): Promise<void> => {
    const made = await send(body);
    if (made !== undefined) notice.value = `Run ${made.runId} was forked.`;
  };
  return (
    <section aria-label="Fork">
      <div class="filters">
        <label>
          <span>Fork from task</span>
          <select
            value={at}
            onChange={(event) => {
              setAt(event.currentTarget.value);
              clear();
            }}
          >
            {run.status === "finished" ? null : <option value="">where it stopped</option>}
            {ids.map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Earlier effects</span>
          <select
            value={effects}
            onChange={(event) => {
              setEffects(event.currentTarget.value as Effects);
              clear();
            }}
          >
            {EFFECTS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={isBusy} onClick={() => void send({ ...body, dryRun: true })}>
          Show fork
        </button>
      </div>
      {answer === undefined ? null : (
        <div class="answer" aria-live="polite">
          <p>
            {answer.dryRun ? "Copies" : "Copied"} {count(answer.copied.tasks, "task")} and{" "}
            {count(answer.copied.calls, "call")}.
            {answer.rerun.length === 0 ? "" : ` Runs again: ${answer.rerun.join(", ")}.`}
            {answer.reverted.length === 0 ? "" : ` Copied, though reverted: ${answer.reverted.join(", ")}.`}
          </p>
          {answer.dryRun ? (
            <button type="button" class="primary" disabled={isBusy} onClick={() => void fork()}>
              Fork run
            </button>
          ) : (
            <>
              <p>
                <RunLink runId={answer.runId} /> {answer.message}
              </p>
              {answer.command === null ? null : <Command text={answer.command} />}
            </>
          )}
        </div>
      )}
      {problem === undefined ? null : <ProblemBox problem={problem} title="The fork was refused" />}
    </section>
  );
}

function RevertForm({ run }: { run: LiveRun }) {
  const { isBusy, answer, problem, send } = useRequest<RevertAnswer>(
    `runs/${encodeURIComponent(run.runId)}/revert`,
  );
  const revert = async (): Promise<void> => {
    const done = await send({});
    if (done !== undefined) notice.value = `Reverted ${count(done.reverted.length, "effect")}.`;
  };
  return (
    <section aria-label="Revert">
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={() => void send({ dryRun: true })}>
          Show revert
        </button>
      </div>
      {answer === undefined ? null : (
        <div class="answer" aria-live="polite">
          <Effects title={answer.dryRun ? "Would be reverted" : "Reverted"} entries={answer.reverted} />
          <Effects title="Waiting for approval" entries={answer.pending} />
          <Effects title="Left as they are" entries={answer.left} />
          <Effects title="Failed" entries={answer.failed} />
          {answer.reverted.length + answer.pending.length + answer.left.length + answer.failed.length ===
          0 ? (
            <p>The run has no effects to revert.</p>
          ) : null}
          {answer.dryRun && answer.reverted.length + answer.pending.length > 0 ? (
            <button type="button" class="danger" disabled={isBusy} onClick={() => void revert()}>
              Revert run
            </button>
          ) : null}
        </div>
      )}
      {problem === undefined ? null : <ProblemBox problem={problem} title="The revert was refused" />}
    </section>
  );
}

function Effects({ title, entries }: { title: string; entries: readonly RevertEntry[] }) {
  if (entries.length === 0) return null;
  return (
    <>
      <p>
        <strong>{title}</strong>
      </p>
      <ul>
        {entries.map((entry) => (
          <li key={`${entry.key} ${entry.attempt}`}>
            {entry.tool} in {entry.nodeId}
            {entry.effectStatus === "unknown" ? " (may not have happened)" : ""}
            {entry.reason === null ? "" : `: ${entry.reason}`}
          </li>
        ))}
      </ul>
    </>
  );
}

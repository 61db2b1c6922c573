/** Sends the signal that a task of the run waits for. The server checks the payload against the task's schema. */
import { useState } from "preact/hooks";
import { asProblem, post, type Problem } from "./api.ts";
import { moment } from "./format.ts";
import { notice } from "./notice.ts";
import { Command, ProblemBox } from "./parts.tsx";
import type { RunWait } from "./types.ts";

interface Answer {
  readonly message: string;
  readonly command: string | null;
}

export function SignalForm({ runId, wait }: { runId: string; wait: RunWait }) {
  const [text, setText] = useState("{}");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [answer, setAnswer] = useState<Answer>();
  const payload = parse(text);
  const send = async (): Promise<void> => {
    if (payload === undefined) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { name: wait.signal, payload: payload.value };
      const sent = await post<Answer>(`runs/${encodeURIComponent(runId)}/signal`, body);
      setAnswer(sent);
      notice.value = `The signal ${wait.signal ?? ""} was sent.`;
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <article class="approval" aria-label={`Signal ${wait.signal ?? ""}`}>
      <div class="line">
        <strong>{wait.signal}</strong>
        <span class="muted">for task {wait.nodeId}</span>
        {wait.dueAtMs === null ? null : <span class="muted small">until {moment(wait.dueAtMs)}</span>}
      </div>
      <label class="block">
        <span>Payload (JSON)</span>
        <textarea
          rows={3}
          value={text}
          aria-invalid={payload === undefined}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="actions">
        <button type="button" disabled={isBusy || payload === undefined} onClick={() => void send()}>
          Send signal
        </button>
      </div>
      {answer === undefined ? null : (
        <div class="answer" aria-live="polite">
          <p>{answer.message}</p>
          {answer.command === null ? null : <Command text={answer.command} />}
        </div>
      )}
      {problem === undefined ? null : <ProblemBox problem={problem} title="The signal was refused" />}
    </article>
  );
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

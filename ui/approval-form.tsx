/** One approval request: what would run, and the answers. The arguments can be edited before they are approved. */
import { useState } from "preact/hooks";
import { asProblem, post, type Problem } from "./api.ts";
import { checkJson } from "./check-json.ts";
import { asJson, decisionOf, duration } from "./format.ts";
import { diffLines } from "./line-diff.ts";
import { notice } from "./notice.ts";
import { Ago, Badge, ProblemBox, RunLink } from "./parts.tsx";
import { may } from "./session.ts";
import type { Approval } from "./types.ts";

export function ApprovalForm({
  approval,
  now,
  showRun,
}: {
  approval: Approval;
  now: number;
  showRun: boolean;
}) {
  return (
    <article class="approval" aria-label={`Approval of ${approval.toolName || approval.nodeId}`}>
      <div class="line">
        <strong class="id">{approval.toolName || approval.nodeId}</strong>
        <Badge status={approval.status} />
        {showRun ? <RunLink runId={approval.runId} /> : null}
        <span class="muted small end">
          requested <Ago at={approval.requestedAtMs} now={now} />
        </span>
        <Expiry approval={approval} now={now} />
      </div>
      {approval.prompt === "" ? null : <p class="question">{approval.prompt}</p>}
      {approval.status === "pending" && !may("decide") ? (
        <>
          <Arguments approval={approval} />
          <p class="muted small">You may read this request, but not decide it.</p>
        </>
      ) : approval.status === "pending" ? (
        approval.kind === "replay" ? (
          <InterruptedAnswers approval={approval} />
        ) : (
          <Answers approval={approval} />
        )
      ) : (
        <Settled approval={approval} />
      )}
    </article>
  );
}

/** A task has none. */
function Arguments({ approval }: { approval: Approval }) {
  if (approval.kind === "task") return null;
  return (
    <pre tabIndex={0} aria-label="Arguments">
      {asJson(approval.args)}
    </pre>
  );
}

function Expiry({ approval, now }: { approval: Approval; now: number }) {
  const { expiresAtMs, status } = approval;
  if (expiresAtMs === null || status !== "pending") return null;
  const left = expiresAtMs - now;
  return <span class="muted small">{left <= 0 ? "expired" : `expires in ${duration(left)}`}</span>;
}

function Settled({ approval }: { approval: Approval }) {
  return (
    <>
      {approval.decidedAtMs === null ? null : <p>{decisionOf(approval)}</p>}
      {approval.comment === null ? null : <p>Comment: {approval.comment}</p>}
      {approval.approvedArgs == null ? null : (
        <Diff title="Edited arguments" before={asJson(approval.args)} after={asJson(approval.approvedArgs)} />
      )}
      {approval.kind === "task" || approval.approvedArgs != null ? null : (
        <details>
          <summary>Arguments</summary>
          <pre tabIndex={0}>{asJson(approval.args)}</pre>
        </details>
      )}
    </>
  );
}

/** Sends a decision, and shows its result: the event stream may be slower than the answer. */
function useDecision(approval: Approval) {
  const [isBusy, setBusy] = useState(false);
  const [settled, setSettled] = useState<Approval>();
  const [problem, setProblem] = useState<Problem>();
  const decide = async (decision: object): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const path = `approvals/${encodeURIComponent(approval.id)}/decision`;
      const row = await post<Approval>(path, { argsHash: approval.argsHash, ...decision });
      setSettled(row);
      notice.value = `${row.toolName || row.nodeId} in ${row.runId}: ${row.status} by ${row.decidedBy ?? "an unnamed approver"}`;
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, settled, problem, decide };
}

function Refused({ problem }: { problem: Problem }) {
  return (
    <ProblemBox
      problem={problem}
      title={
        problem.status === 409 ? "This request was settled or changed meanwhile" : "The decision was refused"
      }
    />
  );
}

function Comment({ text, onText }: { text: string; onText: (text: string) => void }) {
  return (
    <label class="block">
      <span>Comment (optional)</span>
      <input
        type="text"
        value={text}
        maxLength={10_000}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
  );
}

function Answers({ approval }: { approval: Approval }) {
  const original = asJson(approval.args);
  const [text, setText] = useState(original);
  const [isEditing, setEditing] = useState(false);
  const [comment, setComment] = useState("");
  const { isBusy, settled, problem, decide } = useDecision(approval);
  if (settled !== undefined) return <Settled approval={settled} />;
  const { value, problems } = readJson(text, approval.schema);
  // The value counts, not its spaces.
  const edited = problems.length === 0 ? asJson(value) : text;
  const isChanged = edited !== original;
  const note = comment === "" ? {} : { comment };
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      {isEditing ? (
        <label class="block">
          <span>Arguments</span>
          <textarea
            rows={Math.min(24, Math.max(4, text.split("\n").length + 1))}
            spellcheck={false}
            value={text}
            aria-invalid={problems.length > 0}
            aria-describedby={`problems-${approval.id}`}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      ) : (
        <Arguments approval={approval} />
      )}
      <div id={`problems-${approval.id}`} aria-live="polite">
        {problems.map((one) => (
          <p class="error" key={one}>
            {one}
          </p>
        ))}
      </div>
      {isEditing && isChanged && problems.length === 0 ? (
        <Diff title="Your change" before={original} after={edited} />
      ) : null}
      <Comment text={comment} onText={setComment} />
      {problem === undefined ? null : <Refused problem={problem} />}
      <div class="actions">
        <button
          type="button"
          class="good"
          disabled={isBusy || problems.length > 0}
          onClick={() =>
            void decide({ approved: true, ...(isChanged ? { approvedArgs: value } : {}), ...note })
          }
        >
          Approve
        </button>
        <button
          type="button"
          class="danger outline"
          disabled={isBusy}
          onClick={() => void decide({ approved: false, ...note })}
        >
          Deny
        </button>
        {approval.kind === "call" ? (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              setText(original);
              setEditing(!isEditing);
            }}
          >
            {isEditing ? "Discard edit" : "Edit arguments"}
          </button>
        ) : null}
      </div>
    </form>
  );
}

/** An interrupted effect: only a person can know what happened outside. */
function InterruptedAnswers({ approval }: { approval: Approval }) {
  const [output, setOutput] = useState("");
  const [isAsked, setAsked] = useState(false);
  const [comment, setComment] = useState("");
  const { isBusy, settled, problem, decide } = useDecision(approval);
  if (settled !== undefined) return <Settled approval={settled} />;
  const isEmpty = output.trim() === "";
  const { value, problems } = isEmpty
    ? { value: undefined, problems: [] }
    : readJson(output, approval.outputSchema);
  const isMissing = isEmpty && approval.outputSchema !== null;
  const note = comment === "" ? {} : { comment };
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <p>
        Check outside whether it happened, then answer. Running it again repeats the effect if it did happen.
      </p>
      <Arguments approval={approval} />
      <label class="block">
        <span>Result as JSON, if it happened{approval.outputSchema === null ? " (optional)" : ""}</span>
        <input
          type="text"
          value={output}
          spellcheck={false}
          placeholder={exampleOf(approval.outputSchema)}
          aria-invalid={problems.length > 0 || (isAsked && isMissing)}
          onInput={(event) => setOutput(event.currentTarget.value)}
        />
      </label>
      <div aria-live="polite">
        {isAsked && isMissing ? (
          <p class="error">Enter the result first: the caller expects the output of the tool.</p>
        ) : null}
        {problems.map((one) => (
          <p class="error" key={one}>
            {one}
          </p>
        ))}
      </div>
      <Comment text={comment} onText={setComment} />
      {problem === undefined ? null : <Refused problem={problem} />}
      <div class="actions">
        <button
          type="button"
          class="good"
          disabled={isBusy || problems.length > 0}
          onClick={() => {
            setAsked(true);
            if (isMissing) return;
            void decide({
              resolution: "happened",
              ...(value === undefined ? {} : { output: value }),
              ...note,
            });
          }}
        >
          It happened
        </button>
        <button
          type="button"
          disabled={isBusy}
          onClick={() => void decide({ resolution: "run-again", ...note })}
        >
          Run it again
        </button>
        <button
          type="button"
          class="danger outline"
          disabled={isBusy}
          onClick={() => void decide({ resolution: "give-up", ...note })}
        >
          Give up
        </button>
      </div>
    </form>
  );
}

function readJson(text: string, schema: object | null): { value: unknown; problems: string[] } {
  try {
    const value: unknown = JSON.parse(text);
    return { value, problems: schema === null ? [] : checkJson(value, schema) };
  } catch (error) {
    return { value: undefined, problems: [`This is not valid JSON: ${(error as Error).message}`] };
  }
}

/** The names of the fields, as a hint. */
function exampleOf(schema: object | null): string {
  const { properties = {} } = (schema ?? {}) as { readonly properties?: object };
  const fields = Object.keys(properties).map((name) => `${JSON.stringify(name)}: …`);
  return fields.length === 0 ? "" : `{ ${fields.join(", ")} }`;
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function Diff({ title, before, after }: { title: string; before: string; after: string }) {
  return (
    <div>
      <p class="muted small">{title}</p>
      <pre class="diff" tabIndex={0} aria-label={title}>
        {diffLines(before, after).map(({ change, text }, index) => (
          <span key={index} class={change}>
            {SIGNS[change]} {text}
            {"\n"}
          </span>
        ))}
      </pre>
    </div>
  );
}

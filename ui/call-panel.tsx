/** One call in full: arguments, output and error, piece by piece, since an output may have many megabytes. */
import { useEffect, useRef, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "./api.ts";
import { moment } from "./format.ts";
import { Badge, ProblemBox } from "./parts.tsx";
import type { CallPart, CallRow } from "./types.ts";

export function CallPanel({ call, onClose }: { call: CallRow; onClose: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="panel" aria-labelledby="call" onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <div class="bar">
        <h3 id="call" tabIndex={-1} ref={heading}>
          {call.toolName}
        </h3>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <div class="line small">
        <Badge status={call.status} />
        <span>{moment(call.startedAtMs)}</span>
        <span>attempt {call.attempt}</span>
        <span>tries {call.tries}</span>
        {call.isolation === null ? null : <span>isolation {call.isolation}</span>}
        {call.approvalId === null ? null : <span>approval {call.approvalId}</span>}
      </div>
      <p class="small muted">
        Key <code class="id">{call.key}</code>
      </p>
      <Part call={call} part="input" title="Arguments" />
      <Part call={call} part="output" title="Output" />
      <Part call={call} part="error" title="Error" />
    </section>
  );
}

function Part({ call, part, title }: { call: CallRow; part: "input" | "output" | "error"; title: string }) {
  const [text, setText] = useState("");
  const [next, setNext] = useState<number | null>(null);
  const [total, setTotal] = useState<number>();
  const [problem, setProblem] = useState<Problem>();
  const load = async (offset: number): Promise<void> => {
    try {
      const path = `calls/${encodeURIComponent(call.key)}/${call.attempt}`;
      const piece = await get<CallPart>(path, { part, offset: String(offset) });
      setText((before) => (offset === 0 ? piece.text : before + piece.text));
      setNext(piece.nextOffset);
      setTotal(piece.totalChars);
      setProblem(undefined);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  // The output is there once the call has ended.
  useEffect(() => void load(0), [call.status]);
  if (problem === undefined && (total === undefined || total === 0)) return null;
  return (
    <div class="part">
      <h4>{title}</h4>
      {problem === undefined ? null : <ProblemBox problem={problem} title={`${title} cannot be read`} />}
      {text === "" ? null : (
        <pre tabIndex={0} aria-label={title}>
          {next === null ? pretty(text) : text}
        </pre>
      )}
      {next === null || total === undefined ? null : (
        <button type="button" class="quiet" onClick={() => void load(next)}>
          Show more ({text.length.toLocaleString("en")} of {total.toLocaleString("en")} characters)
        </button>
      )}
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** One stored value, piece by piece, since an output may have many megabytes. */
import { useEffect, useState } from "preact/hooks";
import { asProblem, get, type Problem } from "./api.ts";
import { ProblemBox } from "./parts.tsx";
import type { CallPart } from "./types.ts";

interface ValueProps {
  readonly title: string;
  /** The level of its heading. Default: inside a panel. */
  readonly heading?: "h2" | "h4";
  /** The path of the API. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The value is read again when this changes: an output is there once its call or run has ended. */
  readonly version: string;
}

/** Nothing, if there is no such value. */
export function Value({ title, heading: Heading = "h4", path, query, version }: ValueProps) {
  const [text, setText] = useState("");
  const [next, setNext] = useState<number | null>(null);
  const [total, setTotal] = useState<number>();
  const [problem, setProblem] = useState<Problem>();
  const load = async (offset: number, signal?: AbortSignal): Promise<void> => {
    try {
      const piece = await get<CallPart>(path, { ...query, offset: String(offset) }, signal);
      setText((before) => (offset === 0 ? piece.text : before + piece.text));
      setNext(piece.nextOffset);
      setTotal(piece.totalChars);
      setProblem(undefined);
    } catch (error) {
      if (signal?.aborted !== true) setProblem(asProblem(error));
    }
  };
  useEffect(() => {
    const abort = new AbortController();
    void load(0, abort.signal);
    return () => abort.abort();
  }, [path, JSON.stringify(query), version]);
  if (problem === undefined && (total === undefined || total === 0)) return null;
  return (
    <div class="part">
      <Heading>{title}</Heading>
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

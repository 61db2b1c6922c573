/** One task of a run: when it ran, what it returned, and why it failed. */
import { useEffect, useRef } from "preact/hooks";
import { duration, moment, taskName } from "./format.ts";
import { Badge, Fact } from "./parts.tsx";
import type { RunNode } from "./types.ts";
import { Value } from "./value.tsx";

interface TaskPanelProps {
  readonly runId: string;
  readonly node: RunNode;
  readonly onClose: () => void;
}

export function TaskPanel({ runId, node, onClose }: TaskPanelProps) {
  const { nodeId, path, status, attempt, startedAtMs, finishedAtMs, error } = node;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="panel" aria-labelledby="task" onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <div class="bar">
        <h3 id="task" tabIndex={-1} ref={heading}>
          {taskName(node)}
        </h3>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <dl class="facts">
        <Fact name="Status">
          <Badge status={status} />
        </Fact>
        {attempt === null ? null : <Fact name="Attempt">{attempt}</Fact>}
        {startedAtMs === null ? null : <Fact name="Started">{moment(startedAtMs)}</Fact>}
        {startedAtMs === null || finishedAtMs === null ? null : (
          <Fact name="Took">{duration(finishedAtMs - startedAtMs)}</Fact>
        )}
      </dl>
      {error?.message === undefined ? null : <pre class="error">{error.message}</pre>}
      <Value
        title="Output"
        path={`runs/${encodeURIComponent(runId)}/values`}
        query={{ part: "output", task: nodeId, path }}
        version={`${status} ${attempt}`}
      />
    </section>
  );
}

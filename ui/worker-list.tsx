/** All workers: what they run, and whether they are alive. */
import { count } from "./format.ts";
import { Ago, Badge, ProblemBox, Title, useNow } from "./parts.tsx";
import { usePolled } from "./polled.ts";
import type { Worker } from "./types.ts";

const BADGES = { active: "finished", draining: "waiting", dead: "failed" } as const;

export function WorkerList() {
  const { data, problem } = usePolled<{ workers: readonly Worker[] }>("workers");
  const now = useNow();
  return (
    <main>
      <Title document="Workers">Workers</Title>
      {problem === undefined ? null : <ProblemBox problem={problem} title="The workers cannot be read" />}
      {data === undefined ? (
        problem === undefined ? (
          <p>Loading…</p>
        ) : null
      ) : data.workers.length === 0 ? (
        <p class="empty">
          There are no workers. <code>toolwright worker</code> starts one.
        </p>
      ) : (
        <ul class="runs flat" aria-label="Workers">
          {data.workers.map((worker) => (
            <Row key={worker.workerId} worker={worker} now={now} />
          ))}
        </ul>
      )}
    </main>
  );
}

function Row({ worker, now }: { worker: Worker; now: number }) {
  const { name, status, serves, runs, concurrency, build, labels } = worker;
  return (
    <li>
      <div class="line">
        <span class="id">{name}</span>
        <Badge status={BADGES[status]}>{status}</Badge>
        <span class="muted end">
          seen <Ago at={worker.seenAtMs} now={now} />
        </span>
      </div>
      <p class="why">
        {serves.length === 0 ? "It serves nothing." : serves.map((one) => one.name).join(", ")}
      </p>
      <div class="line muted small">
        <span>
          {count(runs, "run")} of {concurrency}
        </span>
        {build === null ? null : <span>build {build}</span>}
        <span>
          started <Ago at={worker.startedAtMs} now={now} />
        </span>
        {Object.entries(labels).map(([key, value]) => (
          <span class="label" key={key}>
            {key}={value}
          </span>
        ))}
      </div>
    </li>
  );
}

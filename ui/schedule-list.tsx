/** All schedules: when each starts its next run, and which run was its last. */
import { count, duration, moment } from "./format.ts";
import { Badge, ProblemBox, RunLink, Title, useNow } from "./parts.tsx";
import { usePolled } from "./polled.ts";
import type { Schedule } from "./types.ts";

export function ScheduleList() {
  const { data, problem } = usePolled<{ schedules: readonly Schedule[] }>("schedules");
  const now = useNow();
  return (
    <main>
      <Title document="Schedules">Schedules</Title>
      {problem === undefined ? null : <ProblemBox problem={problem} title="The schedules cannot be read" />}
      {data === undefined ? (
        problem === undefined ? (
          <p>Loading…</p>
        ) : null
      ) : data.schedules.length === 0 ? (
        <p class="empty">
          There are no schedules. <code>toolwright schedule set</code> creates one.
        </p>
      ) : (
        <ul class="runs flat" aria-label="Schedules">
          {data.schedules.map((schedule) => (
            <Row key={schedule.name} schedule={schedule} now={now} />
          ))}
        </ul>
      )}
    </main>
  );
}

function Row({ schedule, now }: { schedule: Schedule; now: number }) {
  const { name, workflow, cron, everyMs, tz, paused, lastRunId, queued, skipped, overlap, catchUp } =
    schedule;
  return (
    <li>
      <div class="line">
        <span class="id">{name}</span>
        {paused ? <Badge status="pending">paused</Badge> : null}
        <span class="muted">workflow {workflow}</span>
        <span class="muted end">{cron === null ? `every ${duration(everyMs ?? 0)}` : `${cron} (${tz})`}</span>
      </div>
      <p class="why">
        <NextTime schedule={schedule} now={now} />
      </p>
      <div class="line muted small">
        {lastRunId === null ? (
          <span>No run yet</span>
        ) : (
          <span>
            newest run <RunLink runId={lastRunId} />
          </span>
        )}
        {queued > 0 ? <span>{queued} queued</span> : null}
        {skipped > 0 ? <span>{count(skipped, "time")} without a run</span> : null}
        <span>overlap: {overlap}</span>
        <span>catch-up: {catchUp}</span>
      </div>
    </li>
  );
}

function NextTime({ schedule: { nextAtMs, paused }, now }: { schedule: Schedule; now: number }) {
  if (paused) return <>It starts no runs until it is resumed.</>;
  if (nextAtMs === null) return <>It has no more times.</>;
  const left = nextAtMs - now;
  return (
    <>
      Next run{" "}
      <time dateTime={new Date(nextAtMs).toISOString()} title={moment(nextAtMs)}>
        {left <= 0 ? "as soon as a worker is running" : `in ${duration(left)}`}
      </time>
      {left <= 0 ? "" : `, ${moment(nextAtMs)}`}
    </>
  );
}

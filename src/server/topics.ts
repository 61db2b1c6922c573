/** What event streams show, and what their patches hold: rows that changed, or fields that changed. */
import type { Topic } from "./event-streams.ts";

interface RunList {
  readonly runs: readonly { readonly runId: string }[];
  readonly next: string | null;
}

/** A patch holds the rows that are new or changed, and the ids of rows that left the page. */
export function listTopic<List extends RunList>(key: string, read: () => Promise<List>): Topic<List> {
  return {
    key: `list ${key}`,
    read,
    diff: (before, after) => {
      const texts = new Map(before.runs.map((run) => [run.runId, JSON.stringify(run)]));
      const runs = after.runs.filter((run) => texts.get(run.runId) !== JSON.stringify(run));
      const present = new Set(after.runs.map(({ runId }) => runId));
      const removed = before.runs.flatMap(({ runId }) => (present.has(runId) ? [] : [runId]));
      const isSame = runs.length === 0 && removed.length === 0 && before.next === after.next;
      return isSame ? undefined : { runs, removed, next: after.next };
    },
  };
}

/** A patch holds the fields that changed, each as a whole, and always the id and the status of the run. */
export function runTopic<Run extends { readonly runId: string; readonly status: string }>(
  runId: string,
  read: () => Promise<Run>,
): Topic<Run> {
  return {
    key: `run ${runId}`,
    read,
    diff: (before, after) => {
      const old = before as Readonly<Record<string, unknown>>;
      const changed = Object.entries(after).filter(
        ([name, value]) => JSON.stringify(old[name]) !== JSON.stringify(value),
      );
      if (changed.length === 0) return undefined;
      return { runId: after.runId, status: after.status, ...Object.fromEntries(changed) };
    },
  };
}

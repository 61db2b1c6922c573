/** Forks: the parent of a run, and how the fork treats effects that its parent had. */
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, oneOf, type RowOf, text, textOrNull } from "./table.ts";

export const FORK_EFFECTS = ["ask", "reuse", "run"] as const;

const FORKS = columns({
  runId: text("run_id"),
  parentId: text("parent_id"),
  /** The first run of the line. */
  originId: text("origin_id"),
  effects: oneOf("effects", FORK_EFFECTS),
  cut: textOrNull("cut"),
  madeAtMs: integer("made_at_ms"),
});

export type ForkRow = RowOf<(typeof FORKS)["map"]>;

const READ = `SELECT ${FORKS.list()} FROM toolwright_forks WHERE run_id = ?1`;

export function* readFork(runId: string): Transaction<ForkRow | undefined> {
  const row = yield* first(READ, runId);
  return row && FORKS.parse(row);
}

/** The runs that a fork comes from, the nearest first. */
export function* readAncestors(runId: string): Transaction<string[]> {
  const ancestors: string[] = [];
  for (let fork = yield* readFork(runId); fork !== undefined; fork = yield* readFork(fork.parentId))
    ancestors.push(fork.parentId);
  return ancestors;
}

const INSERT = `INSERT INTO toolwright_forks (${FORKS.list()}) VALUES (${FORKS.parameters()})`;

export function insertFork(fork: ForkRow): Transaction<number> {
  return change(INSERT, ...FORKS.values(fork));
}

/** Whether a fork of the run may still compare its calls with the run's. */
export function* hasOpenForks(runId: string): Transaction<boolean> {
  const rows = yield* all(
    `SELECT 1 AS one FROM toolwright_runs r WHERE r.parent_id = ?1 AND r.parent_id IS NOT NULL AND r.status = 'open'
       AND r.state <> 'finished' AND r.reverted_at_ms IS NULL LIMIT 1`,
    runId,
  );
  return rows.length > 0;
}

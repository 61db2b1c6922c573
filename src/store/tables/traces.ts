/** The span contexts of activations: each links to the previous one. Written only with telemetry. */
import { readTextOrNull } from "./columns.ts";
import { change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface EarlierTraces {
  /** The trace of the previous activation. */
  readonly own: string | null;
  /** The trace of the run that this one was forked from. */
  readonly parent: string | null;
}

const NONE: EarlierTraces = { own: null, parent: null };

/** Stores the span context of an activation, and returns the contexts that it follows. */
export function* exchangeRunTrace(runId: string, trace: string): Transaction<EarlierTraces> {
  const row = yield* first(
    `SELECT r.trace AS own, p.trace AS parent FROM toolwright_runs r
     LEFT JOIN toolwright_runs p ON p.id = r.parent_id WHERE r.id = ?1`,
    runId,
  );
  if (row === undefined) return NONE;
  yield* change("UPDATE toolwright_runs SET trace = ?2 WHERE id = ?1", runId, trace);
  return { own: readTextOrNull(row, "own"), parent: readTextOrNull(row, "parent") };
}

/** So that the column does not grow without limit. */
const MOST_AGENTS = 64;
const NO_TRACE = "-";

interface EarlierAgent {
  readonly trace: string;
  /** `undefined` in rows of earlier versions. */
  readonly attempt: number | undefined;
}

/**
 * The same for an agent that runs in a scope. The column has the span contexts of all its agents, separated by spaces, each
 * with its attempt after a slash.
 * @param position the position of the agent among the agents of the scope, from 0
 */
export function* exchangeScopeTrace(
  scopeId: number,
  position: number,
  { trace, attempt }: { readonly trace: string; readonly attempt: number },
): Transaction<EarlierAgent | undefined> {
  if (position >= MOST_AGENTS) return undefined;
  const row = yield* first("SELECT trace FROM toolwright_scopes WHERE id = ?1 {update}", scopeId);
  if (row === undefined) return undefined;
  const traces = readTextOrNull(row, "trace")?.split(" ") ?? [];
  const earlier = traces[position] ?? NO_TRACE;
  while (traces.length < position) traces.push(NO_TRACE);
  traces[position] = `${trace}/${attempt}`;
  yield* change("UPDATE toolwright_scopes SET trace = ?2 WHERE id = ?1", scopeId, traces.join(" "));
  return earlier === NO_TRACE ? undefined : toEarlierAgent(earlier);
}

function toEarlierAgent(text: string): EarlierAgent {
  const [trace = "", attempt] = text.split("/");
  return { trace, attempt: attempt === undefined ? undefined : Number(attempt) };
}

/** The span context of the call that waits for a decision, else of the run. */
export function* traceOfRequest(request: {
  readonly scopeId: number;
  readonly callKey: string;
  readonly runId: string;
}): Transaction<string | null> {
  const row = yield* first(
    `SELECT COALESCE((SELECT c.trace FROM toolwright_calls c WHERE c.scope_id = ?1 AND c.key = ?2
       ORDER BY c.attempt DESC LIMIT 1), r.trace) AS trace FROM toolwright_runs r WHERE r.id = ?3`,
    request.scopeId,
    request.callKey,
    request.runId,
  );
  return row === undefined ? null : readTextOrNull(row, "trace");
}

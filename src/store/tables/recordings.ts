/**
 * Recordings: which runs keep their model responses after their end (`recording: "keep"`), and what else a replay compares.
 * A run keeps the setting that it started with.
 */
import { readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

const RUN = "run";
/** A copy of the input of an agent or a program. */
export const INPUT_PART = "input";

const START = `INSERT INTO toolwright_recordings (run_id, part, body)
SELECT ?1, '${RUN}', '{}' WHERE NOT EXISTS (SELECT 1 FROM toolwright_tasks WHERE run_id = ?1) ON CONFLICT DO NOTHING`;

/** Called when a run starts. A fork that begins with tasks of a run without a recording would have gaps. */
export function startRecording(runId: string): Transaction<number> {
  return change(START, runId);
}

const START_FIRST = `INSERT INTO toolwright_recordings (run_id, part, body)
SELECT ?1, '${RUN}', '{}' WHERE (SELECT COUNT(*) FROM toolwright_scopes WHERE run_id = ?1) <= 1 ON CONFLICT DO NOTHING`;

/** The same for a run that starts with its first scope: a run that started without a recording would have gaps. */
export function startRecordingWithFirstScope(runId: string): Transaction<number> {
  return change(START_FIRST, runId);
}

export function* isRecorded(runId: string): Transaction<boolean> {
  const row = yield* first(
    `SELECT 1 AS found FROM toolwright_recordings WHERE run_id = ?1 AND part = '${RUN}'`,
    runId,
  );
  return row !== undefined;
}

const SAVE_IN_RECORDED = `INSERT INTO toolwright_recordings (run_id, part, body)
SELECT ?1, ?2, ?3 FROM toolwright_recordings WHERE run_id = ?1 AND part = '${RUN}' ON CONFLICT DO NOTHING`;

/** The definition of a tool that the run calls. The first one counts. */
export function saveRecordedTool(runId: string, toolName: string, body: string): Transaction<number> {
  return change(SAVE_IN_RECORDED, runId, `tool ${toolName}`, body);
}

const REPLACE = SAVE_IN_RECORDED.replace("DO NOTHING", "(run_id, part) DO UPDATE SET body = excluded.body");

/** The return value of a program's task function. */
export function saveRecordedResult(
  { runId, nodeId, path }: { readonly runId: string; readonly nodeId: string; readonly path: string },
  body: string,
): Transaction<number> {
  return change(REPLACE, runId, resultPart(nodeId, path), body);
}

/** A redacted copy of a result that the store has in plain text. */
export function saveRecordedCopy(runId: string, part: string, body: string): Transaction<number> {
  return change(REPLACE, runId, part, body);
}

const payload = (part: string): string =>
  `(SELECT p.body FROM toolwright_payloads p WHERE p.key = c.key AND p.attempt = c.attempt AND p.part = '${part}')`;
/** What the log has in place of a hidden value, a long content, and an input that does not fit its schema. */
export const HIDING: readonly string[] = ["[redacted sha256:", '"sha256":"', "(left out)"];
const HIDES = ["input", "output"]
  .flatMap((part) => HIDING.map((text) => `COALESCE(${payload(part)}, c.${part}_json) LIKE '%${text}%'`))
  .join(" OR ");

const KEEP_INPUT = `INSERT INTO toolwright_recordings (run_id, part, body)
SELECT r.id, '${INPUT_PART}', r.input_json FROM toolwright_runs r JOIN toolwright_recordings k ON k.run_id = r.id AND k.part = '${RUN}'
WHERE r.id = ?1 AND r.kind <> 'workflow' AND r.input_json IS NOT NULL
ON CONFLICT (run_id, part) DO UPDATE SET body = excluded.body`;

/**
 * The input of a recorded agent or program, which is deleted when it finishes. It may repeat hidden values at any location, so it is
 * kept only as long as the log of the run hides nothing.
 */
export function* keepProgramInput(runId: string): Transaction<void> {
  yield* change(KEEP_INPUT, runId);
  yield* forgetHiddenInput(runId);
}

/** Drops the copy of the input if a call has hidden something since it was made. */
export function forgetHiddenInput(runId: string): Transaction<number> {
  return change(
    `DELETE FROM toolwright_recordings WHERE run_id = ?1 AND part = '${INPUT_PART}' AND EXISTS (
       SELECT 1 FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id WHERE s.run_id = ?1 AND (${HIDES}))`,
    runId,
  );
}

/** The parts of copies. */
export const outputPart = (nodeId: string, path: string): string => `output ${path} ${nodeId}`;
export const resultPart = (nodeId: string, path: string): string => `result ${path} ${nodeId}`;
export const turnPart = (turn: number): string => `turn ${turn}`;

/** Into a fork: the definitions of tools, and these parts. */
export function* copyRecording(parentId: string, runId: string, parts: readonly string[]): Transaction<void> {
  const rows = yield* all("SELECT part, body FROM toolwright_recordings WHERE run_id = ?1", parentId);
  const isCopied = new Set([RUN, ...parts]);
  for (const row of rows) {
    const part = readText(row, "part");
    if (!isCopied.has(part) && !part.startsWith("tool ")) continue;
    yield* change(
      "INSERT INTO toolwright_recordings (run_id, part, body) VALUES (?1, ?2, ?3)",
      runId,
      part,
      readText(row, "body"),
    );
  }
}

export interface RecordedParts {
  readonly tools: ReadonlyMap<string, string>;
  /** Redacted copies of outputs and turns, by part. */
  readonly copies: ReadonlyMap<string, string>;
  readonly results: readonly { readonly nodeId: string; readonly path: string; readonly body: string }[];
}

export function* readRecordedParts(runId: string): Transaction<RecordedParts> {
  const rows = yield* all(
    "SELECT part, body FROM toolwright_recordings WHERE run_id = ?1 ORDER BY part",
    runId,
  );
  const tools = new Map<string, string>();
  const copies = new Map<string, string>();
  const results: { nodeId: string; path: string; body: string }[] = [];
  for (const row of rows) {
    const part = readText(row, "part");
    const [kind, ...rest] = part.split(" ");
    const body = readText(row, "body");
    if (kind === "tool") tools.set(rest.join(" "), body);
    else if (kind === "result") results.push({ path: rest[0] ?? "", nodeId: rest.slice(1).join(" "), body });
    else copies.set(part, body);
  }
  return { tools, copies, results };
}

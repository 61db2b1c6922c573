/** What a retried agent is told before its prompt: which calls earlier attempts made that must not be made twice. */
import type { ScopeIdentity } from "../../definition/call-key.ts";
import { integer, text, textOrNull } from "../../store/columns.ts";
import { all, type Row } from "../../store/statement.ts";
import type { Host } from "../host.ts";

const MAX_CHARACTERS = 4_000;
const MAX_PART = 200;

/** `""` when there is nothing to warn about. Newest last; what does not fit is counted. */
export async function warnAboutEarlierCalls(
  host: Host,
  scope: ScopeIdentity,
  attempt: number,
): Promise<string> {
  const rows = await host.store.read(() =>
    all(
      `SELECT c.attempt, c.seq, c.tool_name, c.input_json, c.output_json, c.error_json, c.status
       FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
       WHERE s.run_id = ?1 AND s.node_id = ?2 AND s.path = ?3 AND c.attempt < ?4
         AND c.unrepeatable = 1 AND c.replayed_from IS NULL
         AND (c.effect IS NULL OR c.effect <> 'none') AND c.status IN ('started', 'success', 'error', 'unknown')
       ORDER BY c.attempt, c.seq`,
      scope.runId,
      scope.nodeId,
      scope.path,
      attempt,
    ),
  );
  return rows.length === 0 ? "" : compose(rows);
}

function compose(rows: readonly Row[]): string {
  const head =
    "Earlier attempts of this task made these calls, which must not be repeated by mistake. They are done; they are not done now. " +
    "Calling one again with the same arguments returns its recorded result. To do it once more, call it once more.";
  const lines: string[] = [];
  let left = MAX_CHARACTERS - head.length - 80;
  // From the newest back, so that what is left out is the oldest.
  for (const row of rows.toReversed()) {
    const line = describe(row);
    if (line.length + 1 > left) break;
    left -= line.length + 1;
    lines.unshift(line);
  }
  const omitted = rows.length - lines.length;
  return [head, ...(omitted === 0 ? [] : [`(${omitted} earlier calls are left out here.)`]), ...lines].join(
    "\n",
  );
}

function describe(row: Row): string {
  const result = textOrNull(row, "output_json") ?? textOrNull(row, "error_json") ?? "";
  const shown = result === "" ? "" : ` -> ${shorten(result)}`;
  const status = text(row, "status") === "started" ? "unknown" : text(row, "status");
  return `- attempt ${integer(row, "attempt")}: ${text(row, "tool_name")}(${shorten(textOrNull(row, "input_json") ?? "")}) ${status}${shown}`;
}

function shorten(value: string): string {
  return value.length <= MAX_PART ? value : `${value.slice(0, MAX_PART).toWellFormed()}…`;
}

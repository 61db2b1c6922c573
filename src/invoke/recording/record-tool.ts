/** Stores the definitions of the tools that a recorded run calls: a replay reports a changed description or schema. */
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { saveRecordedTool } from "../../store/tables/recordings.ts";
import { encode } from "../../util/encode.ts";
import type { Call } from "../call.ts";

/** The part of a definition that a replay compares. */
export interface RecordedTool {
  readonly description: string;
  readonly inputSchema: unknown;
}

export function definitionOf({ description, inputJsonSchema }: ToolSpec): RecordedTool {
  return { description, inputSchema: inputJsonSchema };
}

const MOST_RUNS = 1_000;

/** Once for each tool of a run. Nothing depends on it, so a failure does not stop the call. */
export async function recordTool({ host, scope, spec }: Call): Promise<void> {
  const { runId } = scope.identity;
  const known = host.recordedTools.get(runId) ?? new Set();
  if (known.has(spec.name)) return;
  known.add(spec.name);
  host.recordedTools.set(runId, known);
  if (host.recordedTools.size > MOST_RUNS)
    for (const [oldest] of host.recordedTools) {
      host.recordedTools.delete(oldest);
      break;
    }
  const body = encode(definitionOf(spec));
  await host.store
    .transaction(() => saveRecordedTool(runId, spec.name, body), "normal")
    .catch(() => undefined);
}

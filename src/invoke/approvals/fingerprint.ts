/** Changes when a tool's contract does: an approval of the old one does not count for the new. */
import type { ToolSpec } from "../../definition/tool-spec.ts";
import { digest } from "../../util/hash.ts";

export function fingerprintOf(spec: ToolSpec): string {
  return digest([
    spec.name,
    JSON.stringify(spec.inputJsonSchema),
    String(spec.sideEffect),
    String(spec.idempotent),
  ]);
}

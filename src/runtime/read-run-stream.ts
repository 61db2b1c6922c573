/** `runtime.stream`, loaded on first use. */
import { checkOptions } from "../definition/option-table.ts";
import { STREAM_OPTIONS } from "./method-options.ts";
import { checkId } from "./options.ts";
import type { StreamOptions } from "./runtime.ts";

export { readStream } from "../stream/read-stream.ts";

/** @throws TOOL_OPTION_INVALID */
export function checkStreamOptions(runId: string, options: StreamOptions): void {
  checkId("runId", runId);
  checkOptions(STREAM_OPTIONS, options);
}

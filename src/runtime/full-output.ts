/** Reads the full value of an output that the log shows truncated. */
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import { recordedAnywhere, wholeOutput } from "../store/tables/recorded-calls.ts";
import { decode } from "../util/encode.ts";

/** The decoded output of the latest attempt that has one. */
export async function readFullOutput(host: Host, key: string): Promise<unknown> {
  const rows = await host.store.read(() => recordedAnywhere(key));
  if (rows.length === 0)
    throw new ToolwrightError("TOOL_NOT_FOUND", `There is no call with the key "${key}" in this store.`, {
      hint: "Use the key of an outcome or of a row in the log.",
    });
  const row = rows.find(({ outputJson }) => outputJson !== null);
  return row === undefined ? undefined : decode(wholeOutput(row));
}

/** The whole value of what the log shows truncated. */
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import { callsAnywhere } from "../store/calls.ts";
import { readPayload } from "../store/payloads.ts";
import { decode } from "../util/encode.ts";

/** The whole output of a call, decoded, however the log shows it. */
export async function readFullOutput(host: Host, key: string): Promise<unknown> {
  const found = await host.store.read(function* () {
    const whole = yield* readPayload(key, null, "output");
    if (whole !== undefined) return { exists: true, text: whole };
    const rows = yield* callsAnywhere(key);
    return {
      exists: rows.length > 0,
      text: rows.find((row) => row.outputJson !== null)?.outputJson ?? undefined,
    };
  });
  if (!found.exists)
    throw new ToolwrightError("TOOL_NOT_FOUND", `There is no call with the key "${key}" in this store.`, {
      hint: "Use the key of an outcome or of a row of the log.",
    });
  return found.text === undefined ? undefined : decode(found.text);
}

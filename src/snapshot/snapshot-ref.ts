/**
 * The names of the refs: `refs/toolwright/<run>/<seq>`. Two run ids never share a name, even on a case-insensitive
 * file system, and every run id results in a valid ref name.
 */
import { hash } from "node:crypto";
import { ToolwrightError } from "../errors.ts";

export const SNAPSHOT_REFS = "refs/toolwright/";

/** Ends in a slash. */
export function runRefs(runId: string): string {
  return `${SNAPSHOT_REFS}${escapeRunId(runId)}/`;
}

export function snapshotRef(runId: string, seq: number): string {
  if (!Number.isSafeInteger(seq) || seq < 0) {
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      `Expected seq to be a whole number of at least 0; it is ${String(seq)}.`,
      { effect: "none" },
    );
  }
  return `${runRefs(runId)}${seq}`;
}

/** The sequence number of a ref, or `undefined` if the ref is not a snapshot. */
export function seqOf(ref: string): number | undefined {
  const text = /^refs\/toolwright\/[^/]+\/(0|[1-9][0-9]*)$/.exec(ref)?.[1];
  const seq = Number(text);
  return text !== undefined && Number.isSafeInteger(seq) ? seq : undefined;
}

/** A file name has at most 255 bytes, and git adds ".lock". */
const LONGEST = 200;

function escapeRunId(runId: string): string {
  // By UTF-16 unit, because UTF-8 would encode all lone surrogates the same way.
  const escaped = runId.replaceAll(/[^a-z0-9_-]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x80 ? `%${hex(code, 2)}` : `%u${hex(code, 4)}`;
  });
  // "%%" never occurs in escaped text, so neither of these can be the name of another run.
  if (escaped === "") return "%%";
  if (escaped.length <= LONGEST) return escaped;
  return `${escaped.slice(0, 100)}%%${hash("sha256", JSON.stringify(runId), "hex")}`;
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, "0");
}

/** Names as MCP takes them. The real one stays on record; the shown one is what clients list and call. */
import { digest } from "../../../util/hash.ts";

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;
const LONGEST_STEM = 100;

/** The same name in every process, and another for every other name. */
export function toMcpName(name: string): string {
  // The official server looks names up in a plain object, which has a few of its own.
  if (ACCEPTED.test(name) && !(name in Object.prototype)) return name;
  const stem = name.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, LONGEST_STEM);
  return `${stem}_${digest(["mcp tool", name]).slice(0, 8)}`;
}

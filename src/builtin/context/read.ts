/** `context_read`: reads an item, whole or in pages. The pages together are the exact text of the item. */
import { z } from "zod";
import { ToolwrightError } from "../../errors.ts";
import { readItem } from "../../store/context/items.ts";
import { defineBuiltInTool } from "../../tool/define-tool.ts";
import { currentSettings } from "../settings.ts";
import { addressPositional, driveField, pathField, showAddress, toItemAddress } from "./address.ts";
import { countLines, wholeCharacters } from "./chunk-text.ts";
import { currentHost } from "./current-host.ts";

export const context_read = defineBuiltInTool({
  name: "context_read",
  description:
    "Read a context item. A long item is returned in pages: call again with offset = next_offset and column = next_column until next_offset is null.",
  group: "context",
  schema: () =>
    z.object({
      drive: driveField,
      path: pathField,
      offset: z.int().min(1).default(1).describe("The first line to read, from 1"),
      limit: z.int().min(1).optional().describe("How many lines to read at most"),
      column: z.int().min(0).default(0).describe("How many characters of the first line to leave out"),
    }),
  cli: { positionals: addressPositional },
  async execute({ drive, path, offset, limit, column }) {
    const { store } = currentHost();
    const address = toItemAddress(drive, path);
    const item = await store.read(() => readItem(address.drive, address.path));
    if (item === undefined) {
      throw new ToolwrightError("TOOL_CONTEXT_NOT_FOUND", `There is no item at ${showAddress(address)}.`, {
        details: { ...address },
      });
    }
    const page = cutPage(item.content, { offset, limit, column, maxBytes: currentSettings().maxOutputBytes });
    return { ...address, version: item.version, total_lines: lineCount(item.content), ...page };
  },
});

/** A trailing line break does not start another line. */
function lineCount(text: string): number {
  return countLines(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
}

interface PageRequest {
  readonly offset: number;
  readonly limit: number | undefined;
  readonly column: number;
  readonly maxBytes: number;
}

interface Page {
  readonly content: string;
  readonly next_offset: number | null;
  readonly next_column: number;
}

/** Returns whole lines while they fit. Splits a line that is longer than a page, between characters. */
export function cutPage(text: string, { offset, limit = Infinity, column, maxBytes }: PageRequest): Page {
  const lineStart = startOfLine(text, offset);
  if (lineStart === undefined) return { content: "", next_offset: null, next_column: 0 };
  const start = wholeCharacters(text, Math.min(lineStart + column, endOfLine(text, lineStart)));
  let end = start;
  let bytes = 0;
  for (let lines = 0; end < text.length && lines < limit; lines += 1) {
    const lineEnd = endOfLine(text, end);
    bytes += Buffer.byteLength(text.slice(end, lineEnd));
    if (bytes > maxBytes) break;
    end = lineEnd;
  }
  if (end === start) end = fittingEnd(text, start, endOfLine(text, start), maxBytes);
  const content = text.slice(start, end);
  if (end >= text.length) return { content, next_offset: null, next_column: 0 };
  const before = text.slice(0, end);
  return {
    content,
    next_offset: countLines(before) + 1,
    next_column: end - (before.lastIndexOf("\n") + 1),
  };
}

/** At least one character: an empty page would never advance. */
function fittingEnd(text: string, start: number, most: number, maxBytes: number): number {
  let end = start;
  for (let bytes = 0; end < most;) {
    const character = String.fromCodePoint(text.codePointAt(end) ?? 0);
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes && end > start) break;
    end += character.length;
  }
  return end;
}

function startOfLine(text: string, line: number): number | undefined {
  let start = 0;
  for (let current = 1; current < line; current += 1) {
    const end = text.indexOf("\n", start);
    if (end === -1) return undefined;
    start = end + 1;
  }
  return start;
}

/** After its line break. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end + 1;
}

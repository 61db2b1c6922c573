/** `context_refresh`: reads items again from their sources, and embeds new text. */
import { z } from "zod";
import { ToolwrightError } from "../../errors.ts";
import type { Host } from "../../invoke/host.ts";
import { listSourced, type SourcedItem } from "../../store/context/items.ts";
import type { ItemLocation } from "../../store/context/location.ts";
import { defineBuiltInTool } from "../../tool/define-tool.ts";
import { parseAddress, showAddress, toDrive, toPath } from "./address.ts";
import { currentHost } from "./current-host.ts";
import { embedLocation, reasonOf } from "./embed.ts";
import { putItem } from "./put-item.ts";
import { readSource } from "./read-source.ts";

const PAGE = 50;
const MOST_SHOWN = 20;

export const context_refresh = defineBuiltInTool({
  name: "context_refresh",
  description:
    "Bring context items up to date: read those with a source again, and embed what is new or was embedded by another model.",
  group: "context",
  schema: () =>
    z.object({
      drive: z.string().optional().describe("Only in this drive"),
      path: z.string().default("/").describe("Only at this path and below it"),
    }),
  sideEffect: true,
  // Items that are up to date are not changed, so an interrupted refresh can be repeated.
  idempotent: true,
  cli: { positionals: { name: "drive:/path", parse: (text) => (text === "/" ? {} : parseAddress(text)) } },
  async execute({ drive, path }, ctx) {
    const host = currentHost();
    const location = { drive: drive === undefined ? undefined : toDrive(drive), path: toPath(path) };
    const sources = await refreshSources(host, location, ctx.signal);
    return { ...sources, ...(await refreshEmbeddings(host, location, ctx.signal)) };
  },
});

async function refreshSources(host: Host, location: ItemLocation, signal: AbortSignal) {
  const report = { updated: 0, unchanged: 0, failed: 0, failures: [] as { item: string; reason: string }[] };
  for (let after = 0; ;) {
    const from = after;
    const items = await host.store.read(() => listSourced(location, from, PAGE));
    const last = items.at(-1);
    if (last === undefined) return report;
    after = last.id;
    for (const item of items) {
      signal.throwIfAborted();
      try {
        report[await refreshItem(host, item)] += 1;
      } catch (error) {
        signal.throwIfAborted();
        if (ToolwrightError.is(error) && error.code === "TOOL_STORE_FAILED") throw error;
        report.failed += 1;
        if (report.failures.length < MOST_SHOWN)
          report.failures.push({ item: showAddress(item), reason: reasonOf(error) });
      }
    }
  }
}

/** The item is not locked while its source is read, so a newer version is not overwritten. */
async function refreshItem(host: Host, item: SourcedItem): Promise<"updated" | "unchanged"> {
  const { drive, path, source, version } = item;
  const content = await readSource(source);
  const result = await putItem(host, { drive, path, content, source }, { replace: version });
  return result.kind === "written" && result.changed ? "updated" : "unchanged";
}

async function refreshEmbeddings(host: Host, location: ItemLocation, signal: AbortSignal) {
  const { embedding } = host.models;
  if (embedding === undefined) return { embedded_parts: 0, note: "No embedding model is configured." };
  try {
    return { embedded_parts: await embedLocation(host, embedding, location, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (ToolwrightError.is(error)) throw error;
    throw new ToolwrightError("TOOL_EXECUTION_FAILED", `The embedding model failed: ${reasonOf(error)}.`, {
      hint: "Vectors that were stored so far are kept. Call context_refresh again later.",
      retryable: true,
      cause: error,
    });
  }
}

/** `context_search` and `search_semantic`: find items by words or by meaning. Both report the method that they used. */
import { z } from "zod";
import { defineBuiltInTool } from "../../tool/define-tool.ts";
import type { Host } from "../../invoke/host.ts";
import { toDrive, toPath } from "./address.ts";
import { currentHost } from "./current-host.ts";
import { reasonOf } from "./embed.ts";
import {
  findByMeaning,
  findByWords,
  type FoundByMeaning,
  type FoundItem,
  MOST_VECTORS,
  type Request,
} from "./find-items.ts";

const schema = z.object({
  query: z.string().min(1).max(2_000).describe("What to look for, in plain words"),
  drive: z.string().optional().describe("Only in this drive"),
  path: z.string().default("/").describe("Only at this path and below it"),
  limit: z.int().min(1).max(50).default(10).describe("How many items to return at most"),
});

export interface SearchAnswer {
  method: "full_text" | "embedding" | "full_text_and_embedding";
  results: (FoundItem & { similarity?: number; matched_by?: readonly string[] })[];
  note?: string;
}

export const context_search = defineBuiltInTool({
  name: "context_search",
  description:
    "Find context items by their words, and by their meaning where an embedding model is configured. Returns where each hit is and a snippet of it.",
  group: "context",
  schema: () => schema,
  async execute(input, { signal }): Promise<SearchAnswer> {
    const host = currentHost();
    const request = toRequest(input, signal);
    const words = await findByWords(host, request);
    const meaning = await tryMeaning(host, request);
    if (meaning.found === undefined)
      return { method: "full_text", results: words, ...noteOf(meaning.note, words) };
    const results = merge(words, meaning.found.items).slice(0, request.limit);
    return { method: "full_text_and_embedding", results, ...noteOf(meaning.note, results) };
  },
});

export const search_semantic = defineBuiltInTool({
  name: "search_semantic",
  description:
    "Find context items by what they mean. Without an embedding model the search is by words; `method` says which it was.",
  group: "search",
  schema: () => schema,
  async execute(input, { signal }): Promise<SearchAnswer> {
    const host = currentHost();
    const request = toRequest(input, signal);
    const { found, note } = await tryMeaning(host, request);
    if (found !== undefined) {
      return { method: "embedding", results: [...found.items], ...noteOf(note, found.items) };
    }
    const results = await findByWords(host, request);
    return { method: "full_text", results, ...noteOf(note, results) };
  },
});

function toRequest({ query, drive, path, limit }: z.output<typeof schema>, signal: AbortSignal): Request {
  const location = { drive: drive === undefined ? undefined : toDrive(drive), path: toPath(path) };
  return { query, location, limit, signal };
}

/** If the model fails, the search uses only words. */
async function tryMeaning(
  host: Host,
  request: Request,
): Promise<{ found?: FoundByMeaning; note?: string | undefined }> {
  const { embedding } = host.models;
  if (embedding === undefined) return {};
  try {
    const found = await findByMeaning(host, embedding, request);
    return { found, note: limitsOf(found) };
  } catch (error) {
    request.signal.throwIfAborted();
    return { note: `The embedding model failed, so the search was by words only: ${reasonOf(error)}.` };
  }
}

function limitsOf({ notEmbedded, isComplete }: FoundByMeaning): string | undefined {
  const notes = [
    ...(notEmbedded === 0
      ? []
      : [`${notEmbedded} of the items are not embedded by this model yet: context_refresh does it.`]),
    ...(isComplete ? [] : [`Only ${MOST_VECTORS} parts were compared: give a drive or a path.`]),
  ];
  return notes.length === 0 ? undefined : notes.join(" ");
}

function noteOf(note: string | undefined, results: readonly unknown[]): { note?: string } {
  const none = results.length === 0 ? "Nothing was found. Try other words, or context_tree." : undefined;
  const text = [note, none].filter((part) => part !== undefined).join(" ");
  return text === "" ? {} : { note: text };
}

// Beyond this rank, the position in a list hardly matters.
const FLATNESS = 60;

/** Merges by rank, because scores of words and vectors cannot be compared. */
function merge(words: readonly FoundItem[], meaning: FoundByMeaning["items"]): SearchAnswer["results"] {
  const merged = new Map<string, { item: SearchAnswer["results"][number]; by: string[]; score: number }>();
  for (const [by, items] of [
    ["words", words],
    ["meaning", meaning],
  ] as const) {
    for (const [rank, item] of items.entries()) {
      const name = `${item.drive}:${item.path}`;
      const score = 1 / (FLATNESS + rank);
      const known = merged.get(name);
      if (known === undefined) merged.set(name, { item, by: [by], score });
      else
        merged.set(name, {
          item: { ...item, ...known.item },
          by: [...known.by, by],
          score: known.score + score,
        });
    }
  }
  return [...merged.values()]
    .sort((one, other) => other.score - one.score)
    .map(({ item, by }) => ({ ...item, matched_by: by }));
}

/** Stores a text as an item, with its search index. */
import { ToolwrightError } from "../../errors.ts";
import { commitLevel, type Host } from "../../invoke/host.ts";
import { type WriteResult, writeItem } from "../../store/context/items.ts";
import { findWordIndex } from "../../store/context/word-index.ts";
import { describeContent } from "../../invoke/content-digest.ts";
import { type Address, showAddress } from "./address.ts";
import { chunkText } from "./chunk-text.ts";

export const LARGEST_ITEM_BYTES = 1_048_576;

export interface ItemText extends Address {
  readonly content: string;
  readonly source: string | null;
}

/** @throws TOOL_CONTENT_TOO_LARGE */
export async function putItem(
  host: Host,
  item: ItemText,
  { replace, key }: { readonly replace: boolean | number; readonly key?: string | undefined },
): Promise<WriteResult & { readonly bytes: number }> {
  const { bytes, sha256 } = describeContent(item.content);
  if (bytes > LARGEST_ITEM_BYTES) throw tooLarge(item, bytes);
  const chunks = chunkText(item.path, item.content);
  const nowMs = host.clock.now();
  const { store } = host;
  const result = await store.transaction(
    function* () {
      const index = yield* findWordIndex(store.dialect);
      return yield* writeItem(index, { ...item, bytes, sha256, chunks, replace, key, nowMs });
    },
    commitLevel(host, false),
  );
  return { ...result, bytes };
}

function tooLarge(address: Address, bytes: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_CONTENT_TOO_LARGE",
    `Content too large: ${showAddress(address)} would have ${bytes} bytes, an item has at most ${LARGEST_ITEM_BYTES}. Nothing was written.`,
    {
      details: { bytes, maxBytes: LARGEST_ITEM_BYTES },
      hint: "Split it into several items, for example /report/1.md and /report/2.md.",
      effect: "none",
    },
  );
}

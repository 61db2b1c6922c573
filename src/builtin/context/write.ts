/** `context_write`: stores a text under an address. */
import { z } from "zod";
import { ToolwrightError } from "../../errors.ts";
import type { Host } from "../../invoke/host.ts";
import { defineBuiltInTool } from "../../tool/define-tool.ts";
import { isStorableText } from "../../util/storable-text.ts";
import {
  type Address,
  addressPositional,
  driveField,
  pathField,
  showAddress,
  toItemAddress,
} from "./address.ts";
import { currentHost } from "./current-host.ts";
import { embedLocation, reasonOf } from "./embed.ts";
import { putItem } from "./put-item.ts";
import { checkSource } from "./read-source.ts";

export const context_write = defineBuiltInTool({
  name: "context_write",
  description:
    "Write content to a context item. By default, fails if the (drive, path) already exists — pass on_conflict='overwrite' to replace.",
  group: "context",
  schema: () =>
    z.object({
      drive: driveField,
      path: pathField,
      content: z
        .string()
        .refine(isStorableText, "must not contain U+0000 or a lone surrogate")
        .describe("The whole text of the item"),
      on_conflict: z
        .enum(["error", "overwrite"])
        .default("error")
        .describe("What to do where there is an item already"),
      source: z
        .string()
        .max(2_048)
        .optional()
        .describe("Where the text comes from, for context_refresh: a file below the root, or a URL"),
    }),
  sideEffect: true,
  // The item stores the key of the call, so that a repeated call after a crash finds its own write.
  idempotent: false,
  onUnknown: "run",
  cli: { positionals: [addressPositional, "content"] },
  digestInput: "content",
  async execute({ drive, path, content, on_conflict, source }, { idempotencyKey, signal }) {
    const host = currentHost();
    const address = toItemAddress(drive, path);
    const item = { ...address, content, source: source === undefined ? null : checkSource(source) };
    const written = await putItem(host, item, {
      replace: on_conflict === "overwrite",
      key: idempotencyKey ?? undefined,
    });
    if (written.kind === "conflict") throw conflict(address, written.version);
    const { version, created, changed, bytes } = written;
    return { ...address, version, created, changed, bytes, ...(await embedItem(host, address, signal)) };
  },
});

function conflict(address: Address, version: number): ToolwrightError {
  const name = showAddress(address);
  return new ToolwrightError(
    "TOOL_PATH_CONFLICT",
    `There is an item at ${name} already (version ${version}). Nothing was written.`,
    {
      details: { ...address, version },
      hint: `Look at it first with context_read (drive '${address.drive}', path '${address.path}'), or call context_write again with on_conflict='overwrite' to replace it.`,
      effect: "none",
    },
  );
}

/** The item is stored already. If the model fails, it just cannot be found by meaning yet. */
async function embedItem(
  host: Host,
  address: Address,
  signal: AbortSignal,
): Promise<{ embedded: boolean; note?: string }> {
  const { embedding } = host.models;
  if (embedding === undefined) return { embedded: false };
  try {
    await embedLocation(host, embedding, { ...address, only: true }, signal);
    return { embedded: true };
  } catch (error) {
    const note = `The item is written, but the embedding model failed: ${reasonOf(error)}. context_refresh tries again.`;
    return { embedded: false, note };
  }
}

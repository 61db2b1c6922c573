/** Keeps what `write` and `edit` replace, and puts it back when their calls are reverted. */
import type { ToolContext } from "../definition/context.ts";
import { BASH_TOOL_MAX_OUTPUT_BYTES } from "../sandbox/process/command-limits.ts";
import type { RevertFields } from "../definition/tool-options.ts";
import { ToolwrightError } from "../errors.ts";
import { currentAmbient } from "../invoke/ambient.ts";
import { hashBytes, restoreFile } from "../sandbox/files/restore-file.ts";
import type { BeforeReplace } from "../sandbox/files/write-text-file.ts";
import { protectPaths } from "../sandbox/protection/refuse-protected.ts";
import type { Store } from "../store/store.ts";
import { readReplaced, saveReplaced } from "../store/tables/replaced-files.ts";
import { openSealed, sealBytes } from "../util/sealed-text.ts";
import { currentSettings } from "./settings.ts";

/** The most bytes of a replaced file that are kept for a revert. */
const MOST_KEPT_BYTES = 1_000_000;

interface Replaced {
  /** In base64. `null`: there was no file. `undefined`: it was too large to keep. */
  readonly before: string | null | undefined;
  readonly afterHash: string;
}

/** `undefined` outside any run: no call of it can be reverted. */
export function keepReplaced(): BeforeReplace | undefined {
  const call = currentAmbient()?.ofTry?.call;
  // Another tool may use the function that `write` uses. Its effect is its own.
  if (call === undefined || call.scope.isDetached || call.spec.digestInput === undefined) return undefined;
  const { store } = call.host;
  const { key } = call;
  const { attempt } = call.scope;
  return async ({ readBefore, after }) => {
    const afterHash = hashBytes(after);
    // A repeated try finds what the first one wrote: the file before that one counts.
    const isRepeated = call.row !== undefined || call.tries > 1;
    const known = isRepeated ? await read(store, key, attempt) : undefined;
    if (known?.afterHash === afterHash) {
      const current = readBefore(after.length);
      if (current instanceof Buffer && hashBytes(current) === afterHash) return;
    }
    const before = readBefore(MOST_KEPT_BYTES);
    const kept: Replaced = {
      before: before === undefined ? null : before === "too large" ? undefined : before.toString("base64"),
      afterHash,
    };
    const body = sealBytes(store.secret, Buffer.from(JSON.stringify(kept)));
    // It must survive what the file survives: if it is missing, a revert concludes that the file was never replaced.
    await store.transaction(() => saveReplaced(key, attempt, body), "full");
  };
}

/** @throws TOOL_EXECUTION_FAILED if the file has changed since, or what it was is not kept */
export async function restoreReplaced(
  path: string,
  { originalIdempotencyKey: key, attempt, effectStatus }: ToolContext & RevertFields,
): Promise<void> {
  const store = currentAmbient()?.scope.host.store;
  const replaced = store === undefined ? undefined : await read(store, key, attempt);
  // The call ended before it replaced the file.
  if (replaced === undefined && effectStatus === "unknown") return;
  if (replaced === undefined) throw notKept("The store does not have what the call replaced");
  const { before, afterHash } = replaced;
  if (before === undefined) throw notKept("The file that the call replaced was too large to keep");
  const { rootDir, protectedPaths } = currentSettings();
  await restoreFile({
    rootDir,
    path,
    before: before === null ? undefined : Buffer.from(before, "base64"),
    afterHash,
    maxBytes: BASH_TOOL_MAX_OUTPUT_BYTES,
    isProtected: protectPaths(protectedPaths),
  });
}

async function read(store: Store, key: string, attempt: number): Promise<Replaced | undefined> {
  const body = await store.read(() => readReplaced(key, attempt));
  return body === undefined
    ? undefined
    : (JSON.parse(openSealed(store.secret, body).toString("utf8")) as Replaced);
}

function notKept(why: string): ToolwrightError {
  return new ToolwrightError("TOOL_EXECUTION_FAILED", `${why}, so the file was not put back.`, {
    effect: "none",
    hint: "Restore the file by hand.",
  });
}

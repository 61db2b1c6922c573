/** Reads the source of an item: a file below the root, or a URL, which needs network access. */
import { ToolwrightError } from "../../errors.ts";
import { lazyModule } from "../../util/lazy.ts";
import { isStorableText } from "../../util/storable-text.ts";
import { currentSettings } from "../settings.ts";
import { LARGEST_ITEM_BYTES } from "./put-item.ts";

const files = lazyModule(async () => ({
  ...(await import("../../sandbox/files/read-text-file.ts")),
  ...(await import("../../sandbox/protection/refuse-protected.ts")),
}));

/** @throws TOOL_PATH_INVALID */
export function checkSource(source: string): string {
  if (source.trim() === "" || !isStorableText(source) || /\p{Cc}/u.test(source))
    throw invalid("is empty or contains a character that no path or URL may contain");
  if (!isUrl(source)) return source;
  if (!URL.canParse(source)) throw invalid("is not a URL that can be read");
  const { username, password } = new URL(source);
  // The source is stored and shown, so it must not contain credentials.
  if (username !== "" || password !== "") throw invalid("contains a user name or a password");
  return source;
}

/** The current text of the source. @throws an error with the reason */
export async function readSource(source: string): Promise<string> {
  const text = isUrl(source) ? await fetchText(source) : await readFile(source);
  if (!isStorableText(text)) throw new Error("it contains U+0000, so it is not text");
  return text;
}

function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

async function readFile(path: string): Promise<string> {
  const { protectPaths, readTextFile } = files.value ?? (await files.get());
  const { rootDir, protectedPaths, signal } = currentSettings();
  const isProtected = protectPaths(protectedPaths);
  return readTextFile({ rootDir, path, maxBytes: LARGEST_ITEM_BYTES, signal, isProtected });
}

async function fetchText(url: string): Promise<string> {
  const { allowNetwork, timeoutMs, signal } = currentSettings();
  if (!allowNetwork) {
    throw new ToolwrightError("TOOL_NETWORK_DISABLED", "the network is off (allowNetwork)");
  }
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the server answered ${response.status}`);
  }
  return decode(await readBytes(response));
}

/** Reads at most as many bytes as an item may have, even if the server sends more. */
async function readBytes(response: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > LARGEST_ITEM_BYTES) throw new Error(`it has over ${LARGEST_ITEM_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error("it is not UTF-8 text", { cause });
  }
}

function invalid(problem: string): ToolwrightError {
  return new ToolwrightError("TOOL_PATH_INVALID", `The source ${problem}.`, {
    details: { field: "source" },
    hint: "Use a path below the root, or a URL such as https://example.com/page.md.",
    effect: "none",
  });
}

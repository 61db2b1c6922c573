/** The command that decides a request of a runtime from another process, as it can be pasted. */
import { relative, resolve } from "node:path";
import { DEFAULT_STORE } from "../store/open-store.ts";
import { printedWord } from "../terminal/terminal-text.ts";
import { hostOf } from "./create-runtime.ts";
import type { Runtime } from "./runtime.ts";

/**
 * @param words what follows `toolwright`
 * @param from where it is typed: in the folder of this process, or anywhere
 * @returns `undefined` where no other process can decide, since the store is in memory
 */
export async function decideCommand(
  runtime: Runtime,
  words: readonly string[],
  from: "here" | "anywhere",
): Promise<string | undefined> {
  // Where a runtime of another kind keeps its records is not known here.
  const host = await hostOf(runtime).catch(() => undefined);
  const store =
    host === undefined ? [] : storeWords(host.store.dialect, host.settings.protectedPaths[0], from);
  return store && ["npx toolwright", ...[...words, ...store].map(printedWord)].join(" ");
}

/** `--store …` for a store that the command would not look into by itself. */
function storeWords(
  dialect: "sqlite" | "postgres",
  file: string | undefined,
  from: "here" | "anywhere",
): string[] | undefined {
  // The address may hold a password.
  if (dialect === "postgres") return ["--store", "postgres://…"];
  if (file === undefined) return undefined;
  if (from === "anywhere") return ["--store", file];
  if (file === resolve(DEFAULT_STORE)) return [];
  const near = relative(process.cwd(), file);
  return ["--store", near.startsWith("..") ? file : near];
}

/** The shell command that decides a request from another process. */
import { relative, resolve } from "node:path";
import { DEFAULT_STORE } from "../store/open-store.ts";
import { printedWord } from "../terminal/terminal-text.ts";
import { hostOf } from "./create-runtime.ts";
import type { Runtime } from "./runtime.ts";

/**
 * @param words the arguments of the `toolwright` command
 * @param from where the command is typed: in the folder of this process, or anywhere
 * @returns `undefined` if no other process can decide, since the store is in memory
 */
export async function decideCommand(
  runtime: Runtime,
  words: readonly string[],
  from: "here" | "anywhere",
): Promise<string | undefined> {
  // The store of another kind of runtime is unknown here.
  const host = await hostOf(runtime).catch(() => undefined);
  const store =
    host === undefined ? [] : storeWords(host.store.dialect, host.settings.protectedPaths[0], from);
  return store && ["npx toolwright", ...[...words, ...store].map(printedWord)].join(" ");
}

/** `--store …`, unless it is the default store of the command. */
function storeWords(
  dialect: "sqlite" | "postgres",
  file: string | undefined,
  from: "here" | "anywhere",
): string[] | undefined {
  // The address may contain a password.
  if (dialect === "postgres") return ["--store", "postgres://…"];
  if (file === undefined) return undefined;
  if (from === "anywhere") return ["--store", file];
  if (file === resolve(DEFAULT_STORE)) return [];
  const near = relative(process.cwd(), file);
  return ["--store", near.startsWith("..") ? file : near];
}

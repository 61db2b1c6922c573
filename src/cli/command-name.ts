/** How this command was called, so that the commands that it prints can be pasted. */
import { basename, relative } from "node:path";
import { printedWord } from "../terminal/terminal-text.ts";
import { type CommandSyntax, toCommand } from "../operate/commands.ts";
import type { CommandFlag } from "../operate/next-step.ts";
import { DEFAULT_STORE, isStoreFile, type StoreOption, withoutPassword } from "../operate/store-address.ts";

export function commandName(): string {
  // `npm create toolwright` is npm's command "init".
  if (["exec", "init"].includes(process.env["npm_command"] ?? "")) return "npx toolwright";
  const called = process.argv[1] ?? "toolwright";
  // Started by a script of package.json, or by its path: a shell finds an installed package only through npx.
  if (called.includes("/node_modules/.bin/")) return "npx toolwright";
  if (!/^main\.[jt]s$/.test(basename(called))) return "toolwright";
  const path = relative(process.cwd(), called);
  return `node ${printedWord(path.startsWith("..") ? called : path)}`;
}

/**
 * The store that a command in this folder uses without --store. `undefined` if it is unknown, because the config was not
 * loaded. Module state is safe here: one process runs one command, in one folder.
 */
const folder: { defaultStore: string | undefined } = { defaultStore: DEFAULT_STORE };

export function setDefaultStore(store: string | undefined): void {
  folder.defaultStore = store;
}

/** The address of a store as it can be typed in this folder. */
export function shownStore(store: StoreOption): string {
  const path = typeof store === "string" ? store : (store.path ?? DEFAULT_STORE);
  const near = relative(process.cwd(), path);
  return !isStoreFile(path) || near.startsWith("..") ? path : near;
}

/** How commands for this store are typed. They name it unless it is the default one. */
export function syntaxFor(store: string): CommandSyntax {
  return {
    program: commandName(),
    store: store === folder.defaultStore ? undefined : withoutPassword(store),
  };
}

/** A command line for the next step. */
export function nextCommand(
  store: string,
  command: string,
  ...words: readonly (string | CommandFlag)[]
): string {
  return toCommand(syntaxFor(store), command, words);
}

/** The same for words that are already in order, where only options begin with a dash. */
export function typedCommand(store: string, words: readonly string[]): string {
  const rest = store === folder.defaultStore ? words : [...words, "--store", withoutPassword(store)];
  return [commandName(), ...rest.map(printedWord)].join(" ");
}

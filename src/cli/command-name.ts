/** How this command was called, so that the commands it prints can be typed as they stand. */
import { basename, relative } from "node:path";
import { DEFAULT_STORE, isPostgresAddress } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { printedWord } from "../terminal/terminal-text.ts";

export function commandName(): string {
  if (process.env["npm_command"] === "exec") return "npx toolwright";
  const called = process.argv[1] ?? "toolwright";
  if (!/^main\.[jt]s$/.test(basename(called))) return "toolwright";
  const path = relative(process.cwd(), called);
  return `node ${printedWord(path.startsWith("..") ? called : path)}`;
}

/**
 * The store that a command of this folder uses without --store; `undefined` where that is not known, because the config was
 * not loaded. One process runs one command, in one folder.
 */
const folder: { defaultStore: string | undefined } = { defaultStore: DEFAULT_STORE };

export function setDefaultStore(store: string | undefined): void {
  folder.defaultStore = store;
}

/** A store as it is printed, and as it can be typed in this folder. */
export function shownStore(store: string | Store): string {
  const path = typeof store === "string" ? store : (store.path ?? DEFAULT_STORE);
  const near = relative(process.cwd(), path);
  return isPostgresAddress(path) || path === ":memory:" || near.startsWith("..") ? path : near;
}

/** A command line that continues from here: with the store, where it is not the default one. */
export function nextCommand(store: string, command: string, ...words: readonly (string | Flag)[]): string {
  const operands = words.filter((word) => typeof word === "string");
  const flags = [
    ...words.filter((word) => typeof word !== "string"),
    ...(store === folder.defaultStore ? [] : [["--store", withoutPassword(store)] as const]),
  ].flat();
  // An id may begin with a dash.
  const hasDash = operands.some((word) => word.startsWith("-"));
  const rest = hasDash ? [...flags, "--", ...operands] : [...operands, ...flags];
  return [commandName(), command, ...rest.map(printedWord)].join(" ");
}

/** The same for words that are in their order, and of which none begins with a dash but options. */
export function typedCommand(store: string, words: readonly string[]): string {
  const rest = store === folder.defaultStore ? words : [...words, "--store", withoutPassword(store)];
  return [commandName(), ...rest.map(printedWord)].join(" ");
}

/** An option, with its value if it takes one. */
type Flag = readonly [name: string] | readonly [name: string, value: string];

/** Passwords are typed, not printed; those with an @ in them and those among the parameters neither. */
export function withoutPassword(store: string): string {
  if (!isPostgresAddress(store)) return store;
  const [address = "", ...parameters] = store.split("?");
  const shown = address.replace(/^(\w+:\/\/[^:@/]*):.*@/, "$1:***@");
  return [shown, ...parameters.map((text) => text.replaceAll(/\b(\w*password)=[^&]*/gi, "$1=***"))].join("?");
}

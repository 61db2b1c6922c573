/** How this command was called, so that the commands it prints can be typed as they stand. */
import { basename, relative } from "node:path";
import { isPostgresAddress } from "../store/open-store.ts";
import { printedWord } from "../util/terminal-text.ts";

export function commandName(): string {
  if (process.env["npm_command"] === "exec") return "npx toolwright";
  const called = process.argv[1] ?? "toolwright";
  if (!/^main\.[jt]s$/.test(basename(called))) return "toolwright";
  const path = relative(process.cwd(), called);
  return `node ${printedWord(path.startsWith("..") ? called : path)}`;
}

/** A command line that goes on from here: with the store, where it is not the default one. */
export function nextCommand(store: string, command: string, ...words: readonly (string | Flag)[]): string {
  const operands = words.filter((word) => typeof word === "string");
  const flags = [
    ...words.filter((word) => typeof word !== "string"),
    ...(store === "toolwright.db" ? [] : [["--store", withoutPassword(store)] as const]),
  ].flat();
  // An id may begin with a dash.
  const hasDash = operands.some((word) => word.startsWith("-"));
  const rest = hasDash ? [...flags, "--", ...operands] : [...operands, ...flags];
  return [commandName(), command, ...rest.map(printedWord)].join(" ");
}

/** The same for words that are in their order, and of which none begins with a dash but options. */
export function typedCommand(store: string, words: readonly string[]): string {
  const rest = store === "toolwright.db" ? words : [...words, "--store", withoutPassword(store)];
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

/** How this command was called, so that the commands it prints can be typed as they stand. */
import { basename, relative } from "node:path";
import { isPostgresAddress } from "../store/open-store.ts";
import { quoted } from "../util/shell-word.ts";

export function commandName(): string {
  if (process.env["npm_command"] === "exec") return "npx toolwright";
  const called = process.argv[1] ?? "toolwright";
  if (!/^main\.[jt]s$/.test(basename(called))) return "toolwright";
  const path = relative(process.cwd(), called);
  return `node ${quoted(path.startsWith("..") ? called : path)}`;
}

/** A command line that goes on from here: with the store, where it is not the default one. */
export function nextCommand(store: string, ...words: readonly string[]): string {
  const rest = store === "toolwright.db" ? words : [...words, "--store", withoutPassword(store)];
  return [commandName(), ...rest.map(quoted)].join(" ");
}

/** Passwords are typed, not printed; those with an @ in them and those among the parameters neither. */
export function withoutPassword(store: string): string {
  if (!isPostgresAddress(store)) return store;
  const [address = "", ...parameters] = store.split("?");
  const shown = address.replace(/^(\w+:\/\/[^:@/]*):.*@/, "$1:***@");
  return [shown, ...parameters.map((text) => text.replaceAll(/\b(\w*password)=[^&]*/gi, "$1=***"))].join("?");
}

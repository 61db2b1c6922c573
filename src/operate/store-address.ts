/** Addresses of stores: a SQLite file, `:memory:` or postgres://…. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isForeignAddress, isPostgresAddress } from "../store/open-store.ts";

export { DEFAULT_STORE, isForeignAddress, type StoreOption } from "../store/open-store.ts";

/** Whether the address is a file, which has a folder. */
export function isStoreFile(address: string): boolean {
  return !isPostgresAddress(address) && address !== ":memory:";
}

/**
 * Reading commands must not create a store, and opening a file would: a missing one, or the database of another program.
 * `ready` for everything that opening itself must judge, such as a damaged file or a PostgreSQL address.
 */
export function stateOfStore(address: string): "ready" | "missing" | "foreign" {
  if (!isStoreFile(address)) return "ready";
  const stat = statSync(address, { throwIfNoEntry: false });
  if (stat === undefined) return "missing";
  // A process may have died right after it created the file.
  return !stat.isFile() || stat.size === 0 || hasStoreTables(address) ? "ready" : "foreign";
}

function hasStoreTables(path: string): boolean {
  try {
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return (
        database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'toolwright_meta'").get() !== undefined
      );
    } finally {
      database.close();
    }
  } catch {
    // Damaged, locked or not readable: opening it reports that.
    return true;
  }
}

export function absoluteAddress(address: string, folder = "."): string {
  return isStoreFile(address) ? resolve(folder, address) : address;
}

/** For a check: the address of a database that is not waited for, unless the address itself says how long. */
export function withoutWaiting(address: string): string {
  if (!isPostgresAddress(address)) return address;
  const given = new URLSearchParams(address.split("?").slice(1).join("?"));
  const added = Object.entries({ connectTimeoutMs: "5000", retryMs: "0" }).flatMap(([name, value]) =>
    given.has(name) ? [] : [`${name}=${value}`],
  );
  if (added.length === 0) return address;
  return `${address}${address.includes("?") ? "&" : "?"}${added.join("&")}`;
}

/** Masks passwords, including those that contain an @ and those among the parameters. */
export function withoutPassword(address: string): string {
  if (!isPostgresAddress(address) && !isForeignAddress(address)) return address;
  const [base = "", ...parameters] = address.split("?");
  const shown = base.replace(/^(\s*[\w+.-]+:\/\/[^:@/]*):.*@/, "$1:***@");
  return [shown, ...parameters.map((text) => text.replaceAll(/\b(\w*password)=[^&]*/gi, "$1=***"))].join("?");
}

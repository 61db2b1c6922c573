/** Addresses of stores: a SQLite file, `:memory:` or postgres://…. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isPostgresAddress } from "../store/open-store.ts";

export { DEFAULT_STORE, type StoreOption } from "../store/open-store.ts";

/** Whether the address is a file, which has a folder. */
export function isStoreFile(address: string): boolean {
  return !isPostgresAddress(address) && address !== ":memory:";
}

/** Reading commands must not create a store, and opening a missing file would. A database is assumed to exist. */
export function storeExists(address: string): boolean {
  return !isStoreFile(address) || existsSync(address);
}

export function absoluteAddress(address: string, folder = "."): string {
  return isStoreFile(address) ? resolve(folder, address) : address;
}

/** Masks passwords, also those that contain an @ and those among the parameters. */
export function withoutPassword(address: string): string {
  if (!isPostgresAddress(address)) return address;
  const [base = "", ...parameters] = address.split("?");
  const shown = base.replace(/^(\w+:\/\/[^:@/]*):.*@/, "$1:***@");
  return [shown, ...parameters.map((text) => text.replaceAll(/\b(\w*password)=[^&]*/gi, "$1=***"))].join("?");
}

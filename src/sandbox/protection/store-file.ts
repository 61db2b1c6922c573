/**
 * Whether a file is the store of this or another runtime: an SQLite database with Toolwright's tables. Checks the
 * content, because a store may have any name.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { rethrowExhausted } from "../rethrow-exhausted.ts";

const HEADER = Buffer.from("SQLite format 3\0", "latin1");
/** The prefix of the first table in the schema, which is on the first page. */
const TABLE = "toolwright_";
const FIRST_PAGES = 65_536;

export function isStoreContent(bytes: Buffer): boolean {
  // The first byte rules out most files, and every file that is read is checked.
  if (bytes[0] !== HEADER[0] || !bytes.subarray(0, HEADER.length).equals(HEADER)) return false;
  return bytes.subarray(0, FIRST_PAGES).includes(TABLE);
}

/** Common names of databases. A scan of a whole root opens only these. */
export function hasDatabaseName(name: string): boolean {
  return /\.(?:db3?|sqlite3?|store)(?:-wal|-shm|-journal)?$|toolwright/i.test(name);
}

/** False for anything that cannot be opened and read as a plain file. */
export function isStoreFile(path: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    rethrowExhausted(error);
    return false; // A link, or not readable for us and therefore not for the command either.
  }
  try {
    const header = Buffer.alloc(HEADER.length);
    readSync(descriptor, header, 0, HEADER.length, 0);
    if (!header.equals(HEADER)) return false;
    const bytes = Buffer.alloc(FIRST_PAGES);
    if (isStoreContent(bytes.subarray(0, readSync(descriptor, bytes, 0, FIRST_PAGES, 0)))) return true;
  } catch {
    return false; // A folder.
  } finally {
    closeSync(descriptor);
  }
  // The tables of a new store may exist only in its log.
  return readStart(`${path}-wal`).includes(TABLE);
}

function readStart(path: string): Buffer {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return Buffer.alloc(0); // There is none.
  }
  try {
    const bytes = Buffer.alloc(FIRST_PAGES);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, FIRST_PAGES, 0));
  } catch {
    return Buffer.alloc(0);
  } finally {
    closeSync(descriptor);
  }
}

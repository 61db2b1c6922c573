/**
 * A SQLite file on a small disk of its own (tmpfs), which is shrunk to exactly its content: no page can be added.
 * Without the right to mount one, the processes limit their own connections instead (`PRAGMA max_page_count`).
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { atExit } from "../at-exit.ts";
import type { Database } from "./database.ts";

const DISK = "2g";

export function createSqliteDatabase(): Database {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-soak-"));
  chmodSync(folder, 0o700);
  const isMounted = mount(folder, `size=${DISK}`);
  const remove = atExit(() => {
    if (isMounted) execFileSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  const address = join(folder, "store.db");
  return {
    name: "sqlite",
    address,
    directAddress: address,
    limitsPages: !isMounted,
    suffer: async ({ fault, forMs }) => {
      if (fault === "locked") await lock(address, forMs);
      else if (!isMounted) return false;
      else await fill(folder, forMs);
      return true;
    },
    [Symbol.asyncDispose]: async () => remove(),
  };
}

function mount(folder: string, options: string): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    // A container may forbid it.
    return false;
  }
}

async function fill(folder: string, forMs: number): Promise<void> {
  const { blocks, bfree, bsize } = statfsSync(folder);
  const used = Math.max((blocks - bfree) * bsize, bsize);
  const resize = (size: string): void => {
    // Writers may have used more meanwhile: then the disk keeps its size, and this fault does nothing.
    execFileSync("mount", ["-o", `remount,size=${size}`, folder], { stdio: "ignore" });
  };
  try {
    resize(String(used));
    await sleep(forMs);
  } catch {
    // See above.
  } finally {
    resize(DISK);
  }
}

/** Another program writes for a long time. */
async function lock(address: string, forMs: number): Promise<void> {
  const other = new DatabaseSync(address, { timeout: 500 });
  try {
    other.exec("BEGIN IMMEDIATE");
    await sleep(forMs);
    other.exec("ROLLBACK");
  } catch {
    // It did not get the lock: other processes were first.
  } finally {
    other.close();
  }
}

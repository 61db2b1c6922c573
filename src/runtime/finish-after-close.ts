/**
 * Finishes the work of a closed runtime: tools that were cut off and still run, and outcomes that the store refused. Other
 * processes would wait for them as long as this process lives. The writes are retried until they succeed; they never keep
 * the program running.
 */
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Host } from "../invoke/host.ts";
import { isPostgresAddress, openStore, type StoreOption } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import type { Ownership } from "./ownership.ts";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Never rejects. @param address of the closed store; `undefined` if the caller keeps the store open */
export async function finishAfterClose(
  host: Pick<Host, "store" | "cutOff" | "failedWrites">,
  ownership: Ownership,
  address: StoreOption | undefined,
): Promise<void> {
  while (host.cutOff.size > 0) await Promise.all(host.cutOff);
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    // Opening a deleted file would start an empty store in its place.
    if (address !== undefined && isGone(address)) return;
    try {
      if (address === undefined) await endIn(host.store, host, ownership);
      else await withStore(address, (store) => endIn(store, host, ownership));
      if (host.failedWrites.isEmpty) return;
    } catch {
      // The store does not answer yet.
    }
    await pause(ms, undefined, { ref: false });
  }
}

async function endIn(store: Store, host: Pick<Host, "failedWrites">, ownership: Ownership): Promise<void> {
  await host.failedWrites.settle(store);
  if (host.failedWrites.isEmpty) await ownership.end(store);
}

async function withStore(address: StoreOption, work: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(address);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

function isGone(address: StoreOption): boolean {
  return typeof address === "string" && !isPostgresAddress(address) && !existsSync(address);
}

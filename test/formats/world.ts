/**
 * The outside world of the stored-format tests: a service with a ledger that no store knows about. It deduplicates by
 * idempotency key where a request has one, and performs every other request again.
 */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

export interface LedgerEntry {
  readonly effect: string;
  readonly key: string | null;
}

export interface World extends AsyncDisposable {
  readonly url: string;
  readonly ledger: readonly LedgerEntry[];
  /** The names of all effects, sorted. */
  effects(): string[];
  /** The next request for this effect is performed but never answered. Resolves when that has happened. */
  hold(effect: string): Promise<void>;
}

/** @param earlier the ledger's content when the store was made */
export async function openWorld(earlier: readonly LedgerEntry[] = []): Promise<World> {
  const ledger = [...earlier];
  const held = new Map<string, () => void>();
  const perform = (entry: LedgerEntry): number => {
    const known = ledger.findIndex(({ key }) => key !== null && key === entry.key);
    return known >= 0 ? known + 1 : ledger.push(entry);
  };
  const server = createServer(async (request, response) => {
    const entry = JSON.parse(await text(request)) as LedgerEntry;
    const receipt = perform(entry);
    const hold = held.get(entry.effect);
    if (hold === undefined) response.end(JSON.stringify({ receipt }));
    else hold();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the world has no address");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    ledger,
    effects: () => ledger.map(({ effect }) => effect).sort(),
    hold: (effect) => new Promise((resolve) => held.set(effect, resolve)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

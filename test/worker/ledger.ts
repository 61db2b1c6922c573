/** A service outside of the workers: it counts charges by their idempotency keys, and can keep a caller waiting. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface Charge {
  readonly run: string;
  readonly step: number;
  readonly key: string;
  readonly pid: number;
}

export interface Ledger {
  readonly url: string;
  /** Every request, in order. */
  readonly requests: readonly Charge[];
  /** The next request for this step of this run gets no answer until `answer` is called. */
  hold(run: string, step: number): Promise<{ readonly pid: number; readonly answer: () => void }>;
  /** What happens before a request is answered, by the number of the request, from 1. */
  readonly before: Map<number, () => Promise<void>>;
  /** Charges per run and step: 1 for each, since a service charges once per key. */
  effects(): Record<string, number>;
}

export async function openLedger(): Promise<Ledger> {
  const requests: Charge[] = [];
  const receipts = new Map<string, number>();
  const holds = new Map<string, (held: { readonly pid: number; readonly answer: () => void }) => void>();
  const before = new Map<number, () => Promise<void>>();
  const reply = (response: ServerResponse, { key }: Charge): void => {
    response.end(JSON.stringify({ receipt: receipts.get(key) }));
  };
  const server = createServer((request, response) => {
    void (async () => {
      const charge = (await json(request)) as Charge;
      requests.push(charge);
      if (!receipts.has(charge.key)) receipts.set(charge.key, receipts.size + 1);
      const name = `${charge.run} ${charge.step}`;
      const held = holds.get(name);
      holds.delete(name);
      await before.get(requests.length)?.();
      if (held === undefined) reply(response, charge);
      else held({ pid: charge.pid, answer: () => reply(response, charge) });
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const ledger: Ledger = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    before,
    hold: (run, step) => new Promise((resolve) => holds.set(`${run} ${step}`, resolve)),
    effects: () => {
      const keys = new Map<string, Set<string>>();
      for (const { run, step, key } of requests) {
        const name = `${run} ${step}`;
        keys.set(name, (keys.get(name) ?? new Set()).add(key));
      }
      return Object.fromEntries([...keys].map(([name, set]) => [name, set.size]));
    },
  };
  return ledger;
}

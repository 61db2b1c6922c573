/** A small shop on loopback with its own ledger. It honours idempotency keys, as real shops do. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Order {
  readonly number: number;
  readonly item: string;
  readonly quantity: number;
  readonly idempotencyKey: string;
}

export interface Shop {
  readonly url: string;
  readonly ledger: readonly Order[];
  /** The number of requests, including repeated ones. */
  readonly requests: () => number;
  close(): void;
}

/** @param onOrder awaited when an order is in the ledger, before the answer is sent */
export async function openShop(onOrder?: (order: Order) => Promise<void>): Promise<Shop> {
  const ledger: Order[] = [];
  let requests = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { item, quantity } = JSON.parse(body) as { item: string; quantity: number };
    const idempotencyKey = String(request.headers["idempotency-key"]);
    requests += 1;
    let order = ledger.find((known) => known.idempotencyKey === idempotencyKey);
    if (order === undefined) {
      order = { number: ledger.length + 1, item, quantity, idempotencyKey };
      ledger.push(order);
      await onOrder?.(order);
    }
    response.setHeader("content-type", "application/json").end(JSON.stringify({ number: order.number }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ledger,
    requests: () => requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

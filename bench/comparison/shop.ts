/**
 * The outside world: a server that counts orders. At one order it accepts, and then stops the process that sent it
 * before that process receives an answer.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Shop extends AsyncDisposable {
  readonly url: string;
  /** How often each order has happened, by index. */
  readonly orders: ReadonlyMap<number, number>;
  /** How often an operator looked. */
  asked(): number;
}

export async function openShop(killAt: number, kill: () => void): Promise<Shop> {
  const orders = new Map<number, number>();
  const keys = new Set<string>();
  let asked = 0;
  let hasKilled = false;
  const server = createServer((request, response) => {
    const index = Number(/^\/orders\/(\d+)$/.exec(request.url ?? "")?.[1]);
    if (request.method === "GET") {
      asked += 1;
      response.statusCode = orders.has(index) ? 200 : 404;
      response.end();
      return;
    }
    const key = request.headers["idempotency-key"];
    const isNew = typeof key !== "string" || !keys.has(key);
    if (typeof key === "string") keys.add(key);
    if (isNew) orders.set(index, (orders.get(index) ?? 0) + 1);
    if (index === killAt && !hasKilled) {
      hasKilled = true;
      kill();
      response.destroy();
      return;
    }
    response.end("accepted");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * The outside world of the crash tests: a shop on loopback with its own ledger, which no store knows about. It
 * honours an idempotency key if it gets one, and places an order for every request without one.
 */
import { createServer, type IncomingMessage } from "node:http";

export interface Order {
  readonly id: number;
  readonly sku: string;
  readonly key: string | null;
}

export interface Shop extends AsyncDisposable {
  readonly url: string;
  /** Every order that was ever placed. */
  readonly ledger: readonly Order[];
  /** How many requests for an order came in, repeated ones included. */
  readonly requests: number;
  /** The maximum number of orders that were being placed at one time. */
  readonly mostAtOnce: number;
  /** From now on every request is answered with an error, and nothing is placed. */
  close(): void;
  open(): void;
  /** Answers the requests with `?hold`; until then their orders are placed, but they have no response. */
  answerHeld(): void;
}

export interface OrderRequest {
  readonly sku: string;
  readonly key: string | null;
  /** Of the tool: how it recovers. */
  readonly kind?: string;
}

/** The faults that a shop injects for each caller. A caller is the path of the address that it uses. */
export interface ShopHooks {
  /** Before the order is placed. `false`: the request was lost on its way, and nothing is placed. */
  onArrival?(caller: string, request: OrderRequest): boolean | Promise<boolean>;
  /** After the order is placed, or found by its key, and before the answer. */
  onPlaced?(caller: string, order: Order): void;
  /** The answer is on its way. */
  onAnswered?(caller: string): void;
}

/** @param answerMs how long the shop takes to answer once an order is placed */
export async function openShop(answerMs = 5, hooks: ShopHooks = {}): Promise<Shop> {
  const ledger: Order[] = [];
  const byKey = new Map<string, Order>();
  const bySku = new Map<string, Order>();
  const seen = { requests: 0, atOnce: 0, mostAtOnce: 0, isOpen: true };
  const held = Promise.withResolvers<void>();
  let meeting = Promise.withResolvers<void>();
  let hasOneCome = false;
  const meet = (): Promise<void> => {
    const { promise, resolve } = meeting;
    if (hasOneCome) {
      resolve();
      meeting = Promise.withResolvers();
    }
    hasOneCome = !hasOneCome;
    return promise;
  };
  const place = (sku: string, key: string | null): Order => {
    const known = key === null ? undefined : byKey.get(key);
    if (known !== undefined) return known;
    const order = { id: ledger.length + 1, sku, key };
    ledger.push(order);
    if (key !== null) byKey.set(key, order);
    if (!bySku.has(sku)) bySku.set(sku, order);
    return order;
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://shop");
    // A barrier where two programs wait for each other.
    if (url.searchParams.has("meet")) {
      await meet();
      response.end();
      return;
    }
    if (request.method === "GET") {
      response.end(JSON.stringify(bySku.get(url.searchParams.get("sku") ?? "") ?? null));
      return;
    }
    const wanted = JSON.parse(await bodyOf(request)) as OrderRequest;
    const { sku, key } = wanted;
    seen.requests += 1;
    if (!seen.isOpen) {
      response.writeHead(503).end();
      return;
    }
    const caller = url.pathname.slice(1);
    if ((await hooks.onArrival?.(caller, wanted)) === false) {
      response.destroy();
      return;
    }
    seen.atOnce += 1;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce);
    const order = place(sku, key);
    hooks.onPlaced?.(caller, order);
    await (url.searchParams.has("hold")
      ? held.promise
      : new Promise((resolve) => setTimeout(resolve, answerMs)));
    seen.atOnce -= 1;
    response.end(JSON.stringify(order), () => hooks.onAnswered?.(caller));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the shop has no address");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    ledger,
    get requests() {
      return seen.requests;
    },
    get mostAtOnce() {
      return seen.mostAtOnce;
    },
    close: () => {
      seen.isOpen = false;
    },
    open: () => {
      seen.isOpen = true;
    },
    answerHeld: () => held.resolve(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

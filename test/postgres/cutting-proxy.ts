/** A proxy between a client and its PostgreSQL server that cuts the connection at a given message. */
import { connect, createServer, type Socket } from "node:net";

export interface CuttingProxy extends AsyncDisposable {
  /** The same database through the proxy. */
  readonly address: string;
  /**
   * Cuts the next connection on which the client sends this, once: before the server receives it, or after the server
   * has executed it, so that only the response is lost.
   * @param meanwhile happens before the client sees the cut
   */
  cutAt(text: string, moment: "before" | "after", meanwhile?: () => Promise<void>): void;
  /** Whether the cut is still to come. */
  readonly isCutting: boolean;
  /** Cuts every connection that is open now. Returns how many. */
  cutAll(): number;
}

export async function openCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cut: { text: string; moment: "before" | "after"; meanwhile: () => Promise<void> } | undefined;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isDeaf = false;
    let isHeld = false;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      const end = (): void => {
        if (!isHeld) other.destroy();
      };
      socket.on("close", () => {
        sockets.delete(socket);
        end();
      });
      socket.on("error", end);
    }
    client.on("data", (chunk) => {
      if (cut === undefined || !chunk.includes(cut.text)) {
        upstream.write(chunk);
        return;
      }
      const { moment, meanwhile } = cut;
      cut = undefined;
      if (moment === "before") {
        isHeld = true;
        void meanwhile().finally(() => {
          isHeld = false;
          client.destroy();
          upstream.destroy();
        });
      } else {
        isDeaf = true;
        upstream.write(chunk);
      }
    });
    upstream.on("data", (chunk) => {
      if (isDeaf) client.destroy();
      else client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = new URL(target);
  address.port = String((server.address() as { port: number }).port);
  return {
    address: address.href,
    cutAt: (text, moment, meanwhile = () => Promise.resolve()) => {
      cut = { text, moment, meanwhile };
    },
    get isCutting() {
      return cut !== undefined;
    },
    cutAll: () => {
      const open = sockets.size / 2;
      for (const socket of sockets) socket.destroy();
      return open;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

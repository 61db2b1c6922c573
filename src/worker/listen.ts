/** Listens to a PostgreSQL channel on its own connection, and connects again when it breaks. */
import type { Client } from "pg";
import { importPeer } from "../load/import-peer.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export class Listener {
  readonly #address: string;
  readonly #channel: string;
  readonly #onNotification: (payload: string) => void;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isStopped = false;

  /** @param onNotification also called with `""` after each connect: earlier notifications may be lost */
  constructor(address: string, channel: string, onNotification: (payload: string) => void) {
    this.#address = address;
    this.#channel = channel;
    this.#onNotification = onNotification;
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Resolves after the first attempt, whether or not it succeeded. */
  async start(): Promise<void> {
    try {
      const { default: pg } = await importPeer("pg", () => import("pg"));
      const client = new pg.Client({
        connectionString: this.#address,
        keepAlive: true,
        connectionTimeoutMillis: 5_000,
      });
      // Without a listener, an error of the connection would end the process.
      client.on("error", () => undefined);
      client.on("end", () => this.#lost(client));
      client.on("notification", ({ payload }) => this.#onNotification(payload ?? ""));
      this.#client = client;
      await client.connect();
      await client.query(`LISTEN ${this.#channel}`);
      if (this.#isStopped) return await this.stop();
      this.#pauseMs = FIRST_PAUSE_MS;
      this.#onNotification("");
    } catch {
      // The server is away, or a pooler does not support LISTEN: jobs and the sweep wake the worker.
      const client = this.#client;
      this.#lost(client);
      await client?.end().catch(() => undefined);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  #lost(client: Client | undefined): void {
    if (this.#isStopped || (client !== undefined && client !== this.#client)) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.start(), this.#pauseMs * (0.5 + Math.random())).unref();
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }
}

/** A separate PostgreSQL server behind a proxy: it crashes and restarts, and its connections are cut. */
import { Client } from "pg";
import { openCuttingProxy } from "../postgres/cutting-proxy.ts";
import { startServer } from "../postgres/start-server.ts";
import type { Database } from "./database.ts";

/** @param root the project, in a location that every user of the machine can read */
export async function createPostgresDatabase(root: string): Promise<Database> {
  const server = await startServer(root, "password", true);
  const directAddress = `${server.address}/postgres`;
  const proxy = await openCuttingProxy(directAddress);
  return {
    name: "postgres",
    address: proxy.address,
    directAddress,
    limitsPages: false,
    suffer: async ({ fault }) => {
      switch (fault) {
        case "restart":
          await server.crash();
          await server.start();
          return true;
        case "terminate":
          return terminateAll(directAddress);
        case "cut-all":
          return proxy.cutAll() > 0;
        case "cut-before-commit":
          proxy.cutAt("COMMIT", "before");
          return true;
        default:
          proxy.cutAt("COMMIT", "after");
          return true;
      }
    },
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await server.end();
    },
  };
}

async function terminateAll(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()",
    );
    return true;
  } finally {
    await client.end();
  }
}

/** Runs work on a real PostgreSQL server that is started for it. */
import { atExit } from "../test/at-exit.ts";
import { startServer } from "../test/postgres/start-server.ts";
import { preparePublicRoot } from "../test/public-root.ts";

/** @param options.durable flush every commit to the disk, as PostgreSQL does by default */
export async function withPostgres<T>(
  work: (address: string) => Promise<T>,
  options: { readonly durable?: boolean } = {},
): Promise<T> {
  // For root, the server runs as another user, who may not be able to read this checkout.
  const root = preparePublicRoot();
  const removeRoot = atExit(() => root.remove());
  try {
    const server = await startServer(root.path, options.durable === true ? "durable" : "password");
    try {
      return await work(`${server.address}/postgres`);
    } finally {
      await server.end();
    }
  } finally {
    removeRoot();
  }
}

/** The stores that every test about durability runs on. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshPostgresSchema } from "./postgres/fresh-postgres.ts";

export interface FreshStore extends AsyncDisposable {
  /** What `createRuntime({ store })` takes, in this process or another. */
  readonly address: string;
}

export interface StoreKind {
  readonly name: string;
  fresh(): Promise<FreshStore>;
}

export const STORE_KINDS = [
  {
    name: "SQLite",
    fresh: async () => {
      const folder = await mkdtemp(join(tmpdir(), "toolwright-test-"));
      return {
        address: join(folder, "store.db"),
        [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
      };
    },
  },
  {
    name: "PostgreSQL",
    // The schemas go with their server.
    fresh: async () => ({
      address: await freshPostgresSchema(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
  },
] as const satisfies readonly StoreKind[];

/**
 * Retry, timeout, breaker, cache, limits, approval, nesting, business keys, cancellation, retention, store failures and
 * kills, combined at random. `npm run fuzz` runs more rounds, and other seeds.
 */
import { test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { runRound } from "./round.ts";

const ROUNDS = { SQLite: 200, PostgreSQL: 60 } as const;

test.each(STORE_KINDS)(
  "random combinations on $name lose nothing, repeat nothing and get stuck nowhere",
  { timeout: 600_000 },
  async (kind) => {
    for (let seed = 1; seed <= ROUNDS[kind.name]; seed += 1) {
      const fresh = await kind.fresh();
      await runRound({ seed, open: () => openStore(fresh.address) });
      await fresh[Symbol.asyncDispose]();
    }
  },
);

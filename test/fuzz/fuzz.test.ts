/**
 * Retry, timeout, breaker, cache, limits, approval, nesting, business keys, cancellation, retention, store failures and
 * kills, combined at random. `npm run fuzz` runs more rounds, and other seeds.
 */
import { test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { amount } from "../amount.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { runRound } from "./round.ts";

const ROUNDS = { SQLite: amount(60, 200), PostgreSQL: amount(24, 60) } as const;
/** A round waits most of its time. On PostgreSQL, each opens dozens of connections. */
const AT_ONCE = { SQLite: 4, PostgreSQL: 2 } as const;

test.each(STORE_KINDS)(
  "random combinations on $name lose nothing, repeat nothing and get stuck nowhere",
  { timeout: 600_000 },
  async (kind) => {
    let started = 0;
    const runRounds = async (): Promise<void> => {
      while (started < ROUNDS[kind.name]) {
        const seed = (started += 1);
        await using fresh = await kind.fresh();
        await runRound({ seed, open: () => openStore(fresh.address) });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE[kind.name] }, runRounds));
  },
);

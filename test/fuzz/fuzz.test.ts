/** Retry, timeout, breaker, cache, limits, approval, nesting, business keys, cancellation, retention, store failures, kills. */
import { onTestFinished, test } from "vitest";
import { STORE_KINDS } from "../store-kinds.ts";
import { openStore } from "../../src/store/open-store.ts";
import { runRound } from "./round.ts";

const FIRST_SEED = Number(process.env["FUZZ_SEED"] ?? 1);
const ROUNDS = Number(process.env["FUZZ_ROUNDS"] ?? 20);

for (const kind of STORE_KINDS) {
  test(
    `random combinations on ${kind.name} lose nothing, repeat nothing and get stuck nowhere`,
    { timeout: 600_000 },
    async () => {
      for (let n = 0; n < ROUNDS; n += 1) {
        const fresh = await kind.fresh();
        await runRound({ seed: FIRST_SEED + n, open: () => openStore(fresh.address) });
        await fresh[Symbol.asyncDispose]();
      }
    },
  );
}

/**
 * The random combination test, for any number of rounds: `npm run fuzz -- --seed 7 --rounds 500 --store postgres`.
 * Each round has its own seed, which a failure names: `--seed <it> --rounds 1` runs that round again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { openStore } from "../src/store/open-store.ts";
import { runRound } from "../test/fuzz/round.ts";
import { startServer } from "../test/postgres/start-server.ts";
import { preparePublicRoot } from "../test/public-root.ts";

interface Stores extends AsyncDisposable {
  /** The address of an empty store. */
  fresh(round: number): Promise<string>;
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    rounds: { type: "string", default: "100" },
    store: { type: "string", default: "sqlite" },
  },
});

const first = whole("--seed", values.seed);
const rounds = whole("--rounds", values.rounds);
await using stores = await openStores(values.store);
console.log(`${rounds} rounds from seed ${first} on ${values.store}`);
for (let n = 0; n < rounds; n += 1) {
  const address = await stores.fresh(n);
  await runRound({ seed: first + n, open: () => openStore(address) });
  if ((n + 1) % 50 === 0) console.log(`${n + 1} rounds`);
}
console.log("nothing lost, nothing twice, nothing stuck");

async function openStores(kind: string): Promise<Stores> {
  if (kind === "sqlite") {
    const folder = mkdtempSync(join(tmpdir(), "toolwright-fuzz-"));
    return {
      fresh: async (round) => join(folder, `${round}.db`),
      [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
    };
  }
  if (kind !== "postgres") throw new Error(`--store must be "sqlite" or "postgres", not "${kind}"`);
  const root = preparePublicRoot();
  const server = await startServer(root.path);
  return {
    fresh: async (round) => {
      const client = new Client({ connectionString: server.address });
      await client.connect();
      await client.query(`CREATE SCHEMA round_${round}`);
      await client.end();
      return `${server.address}?options=${encodeURIComponent(`-c search_path=round_${round}`)}`;
    },
    [Symbol.asyncDispose]: async () => {
      await server.end();
      root.remove();
    },
  };
}

function whole(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${option} must be a whole number, not "${text}"`);
}

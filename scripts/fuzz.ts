/**
 * The random combination test for as long as one likes: `npm run fuzz -- --seed 7 --rounds 500 [--store postgres]`.
 * Each round has a seed of its own, which a failure names: `--seed <it> --rounds 1` runs that round again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openStore } from "../src/store/open-store.ts";
import { runRound } from "../test/fuzz/round.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    rounds: { type: "string", default: "100" },
    store: { type: "string" },
  },
});

const first = whole("--seed", values.seed);
const rounds = whole("--rounds", values.rounds);
for (let n = 0; n < rounds; n += 1) {
  const seed = first + n;
  const folder = mkdtempSync(join(tmpdir(), "toolwright-fuzz-"));
  const address = values.store ?? join(folder, "store.db");
  await runRound({ seed, open: () => openStore(address) });
  rmSync(folder, { recursive: true, force: true });
  if (process.stdout.isTTY) process.stdout.write(`\r${n + 1} of ${rounds} rounds`);
}
console.log(`\n${rounds} rounds from seed ${first}: nothing lost, nothing twice, nothing stuck`);
process.exit(0);

function whole(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${option} must be a whole number, and is "${text}"`);
}

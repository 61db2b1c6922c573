/** An agent places orders, is killed at every point of a call, and is started again. No order is lost or placed twice. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "toolwright";
import { createCrashProgram } from "toolwright/testing";
import { openShop } from "./shop.ts";

const folder = mkdtempSync(join(tmpdir(), "toolwright-demo-"));
const store = join(folder, "demo.db");
const shop = await openShop();
const program = createCrashProgram(new URL("./agent.ts", import.meta.url), { args: [store, shop.url] });

console.log(
  "An agent shall order apples, bread and milk at a small shop. We kill it, again and again, with SIGKILL.\n",
);

const deaths = [
  { crashAt: "before-intent", occurrence: 1, words: "before it has written down that it wants to order" },
  { crashAt: "after-intent", occurrence: 1, words: "with that written down, before it calls the shop" },
  { crashAt: "in-effect", occurrence: 1, words: "when the shop has taken the order, before anybody knows" },
  { crashAt: "after-effect", occurrence: 1, words: "with the shop's answer in hand, before it is on record" },
  { crashAt: "after-outcome", occurrence: 1, words: "right after the record, before the model hears of it" },
  { crashAt: "in-effect", occurrence: 2, words: "in the middle of two orders at once" },
] as const;

for (const [index, { crashAt, occurrence, words }] of deaths.entries()) {
  const { crashed } = await program.run({ crashAt, occurrence });
  assert.ok(crashed, `the agent did not get to ${crashAt}`);
  console.log(
    `  start ${index + 1}: killed ${words.padEnd(58)} the shop has ${count(shop.ledger.length, "order")}`,
  );
}
const { stdout } = await program.run();
console.log(`  start ${deaths.length + 1}: comes to its end: "${stdout.trim()}"\n`);

console.log(`The shop was asked ${shop.requests()} times. Its own ledger:`);
console.table(
  shop.ledger.map(({ number, item, idempotencyKey }) => ({
    number,
    item,
    key: `${idempotencyKey.slice(0, 12)}…`,
  })),
);

await using runtime = createRuntime({ store });
const calls = await runtime.calls({ runId: "groceries" });
console.log("The record, as any SQL client sees it (SELECT … FROM _smithers_tool_calls):");
console.table(
  calls.map(({ seq, toolName, inputJson, status, outputJson, key }) => ({
    seq,
    tool: toolName,
    input: inputJson,
    status,
    output: outputJson,
    key: `${key.slice(0, 12)}…`,
  })),
);

assert.deepEqual(shop.ledger.map(({ item }) => item).toSorted(), ["apples", "bread", "milk"]);
assert.ok(calls.length === 3 && calls.every(({ status }) => status === "success"));
console.log("Each order was placed once.");
shop.close();
rmSync(folder, { recursive: true });

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

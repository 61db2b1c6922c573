/**
 * An order from the command line: it waits for approval (exit code 3), is approved in another process, is killed right after
 * the shop has accepted the order, and is resumed by its id. Then the same order arrives a second time, and once more with
 * another quantity. The shop has one order at the end.
 *
 * Run it with `npm run example durable-order`, which is: node examples/durable-order/durable-order.ts
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openShop } from "../demo/shop.ts";
import { TOOLWRIGHT } from "../toolwright-command.ts";

const folder = mkdtempSync(join(tmpdir(), "toolwright-order-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const workflow = join(import.meta.dirname, "order.tsx");

let running: ChildProcess | undefined;
const shop = await openShop(async () => {
  // The order is in the shop's ledger, and the shop has not answered yet.
  console.log("  (the shop has taken the order: SIGKILL)");
  running?.kill("SIGKILL");
  if (running !== undefined) await once(running, "close");
});

const order = (quantity: number): string =>
  JSON.stringify({ orderNumber: "A-17", item: "lemonade", quantity });

const waiting = await toolwright("up", workflow, "--run-id", "first", "--input", order(40));
assert.equal(waiting.code, 3, "a large order waits for approval");
assert.equal(shop.requests(), 0);

assert.match((await toolwright("approvals")).said, /Order 40 of lemonade\?/);
assert.equal((await toolwright("approve", "first", "--comment", "for the party")).code, 0);

assert.equal((await toolwright("resume", "first")).signal, "SIGKILL", "killed when the shop has the order");
assert.equal(shop.ledger.length, 1);

assert.equal((await toolwright("resume", "first")).code, 0, "resumes without another approval");
assert.equal(shop.requests(), 2, "the shop received a second request, with the same key");

const again = await toolwright("up", workflow, "--run-id", "second", "--input", order(40));
assert.equal(again.code, 0, "the same order in another run returns the logged result");
assert.equal(shop.requests(), 2, "and the shop receives no request");

const other = await toolwright("up", workflow, "--run-id", "third", "--input", order(41));
assert.equal(other.code, 1, "the same order number with another quantity is refused");
assert.match(other.said, /business key/);

assert.deepEqual(
  shop.ledger.map(({ item, quantity }) => `${quantity} ${item}`),
  ["40 lemonade"],
);
console.log("The shop has one order.");
shop.close();

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
}

async function toolwright(...args: readonly string[]): Promise<Ended> {
  const shown = args.map((arg) => (arg === workflow ? "order.tsx" : /[ {]/.test(arg) ? `'${arg}'` : arg));
  console.log(`$ toolwright ${shown.join(" ")}`);
  const child = spawn(process.execPath, [TOOLWRIGHT, ...args], {
    cwd: folder,
    env: { ...process.env, SHOP_URL: shop.url },
  });
  running = child;
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      process.stdout.write(text.replace(/^(?=.)/gm, "  "));
    });
  }
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, said };
}

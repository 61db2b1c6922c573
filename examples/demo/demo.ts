/**
 * Kills a workflow, in which an agent places orders, at every point of a call, lets it wait for approval, and starts it again
 * each time. At the end, the shop's ledger shows each order once. Run: npm run demo
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "toolwright";
import { serve } from "toolwright/server";
import { type CrashPoint, createCrashProgram } from "toolwright/testing";
import { openShop } from "./shop.ts";

const folder = mkdtempSync(join(tmpdir(), "toolwright-demo-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const store = join(folder, "demo.db");
const requestsFile = join(folder, "requests.txt");
const shop = await openShop();
const program = createCrashProgram(new URL("./agent.tsx", import.meta.url), {
  args: [store, shop.url, requestsFile],
  env: { NODE_COMPILE_CACHE: join(folder, "compiled") },
});
let starts = 0;

console.log(`An agent orders apples, bread, milk and 40 lemonades at a small shop, in a task of a workflow.
The demo kills its process with SIGKILL, repeatedly, and restarts it in the same way.
`);

await killed("before-intent", 1, "before the intent to order is logged");
await killed("after-intent", 1, "after the intent is logged, before it calls the shop");
await killed("in-effect", 1, "after the shop has accepted the order, before it has answered");
await killed("after-effect", 1, "after the shop has answered, before the outcome is logged");
await killed("after-outcome", 1, "after the outcome is logged, before the model receives it");
await killed("in-effect", 2, "in the middle of two parallel orders");
await left("waiting-approval", "it exits and waits: 40 lemonades need approval");

await using runtime = createRuntime({ store });
const [request, ...others] = await runtime.approvals({ status: "pending" });
assert.ok(request !== undefined && others.length === 0, "one request was expected");
console.log(`\n  Approved in another process: "${request.prompt}"\n`);
await runtime.resolveToolApproval(request.id, { approved: true, decidedBy: "Ann" });

await killed("in-effect", 1, "after the shop has accepted the large order");
const { summary } = await left("finished", "it finishes");
console.log(`           "${summary}"\n`);

console.log(`The shop received ${shop.requests()} requests. Its ledger:`);
console.table(
  shop.ledger.map(({ number, item, quantity, idempotencyKey }) => ({
    number,
    item,
    quantity,
    key: shorten(idempotencyKey),
  })),
);

const calls = await runtime.calls({ runId: "party" });
console.log("The log, as any SQL client sees it (SELECT … FROM _smithers_tool_calls):");
console.table(
  calls.map(({ nodeId, seq, toolName, inputJson, status, outputJson, approval, key }) => ({
    task: nodeId,
    seq,
    tool: toolName,
    input: inputJson,
    status,
    output: outputJson,
    approval,
    key: shorten(key),
  })),
);

const asked = readFileSync(requestsFile, "utf8").trim().split("\n");
assert.deepEqual(
  shop.ledger.map(({ item }) => item).toSorted(),
  ["apples", "bread", "lemonade", "milk"],
  "each order is in the shop's ledger once",
);
assert.ok(shop.requests() > shop.ledger.length, "the shop received repeated requests");
assert.deepEqual(
  calls.map(({ status }) => status),
  ["success", "success", "success", "success"],
  "each order is logged once",
);
assert.deepEqual(asked, ["1", "2", "3", "4"], "the model is called once for each response");
console.log(`The process was started ${starts} times; the model was called ${asked.length} times, once for each response.
Nothing that is logged is requested, or paid for, again. Each order was placed once.`);
shop.close();

await using server = await serve({ runtime, port: 0 });
console.log(`\nThe page of this run: ${server.signInUrl}&run=party`);
if (process.argv.includes("--serve")) {
  console.log("Press Ctrl-C to end.");
  await once(process, "SIGINT");
} else console.log("It closes now with the demo. To keep it open: npm run demo -- --serve");

async function killed(crashAt: CrashPoint, occurrence: number, words: string): Promise<void> {
  const { crashed, stdout } = await program.run({ crashAt, occurrence });
  assert.ok(crashed, `the agent did not get to ${crashAt}, it said: ${stdout}`);
  tell(`killed ${words}`);
}

async function left(status: string, words: string): Promise<{ readonly summary?: string }> {
  const run = await program.run();
  const said = JSON.parse(run.stdout) as { status: string; output?: { summary?: string } };
  assert.equal(said.status, status);
  tell(words);
  return said.output ?? {};
}

function tell(words: string): void {
  starts += 1;
  const orders = shop.ledger.length;
  console.log(
    `  start ${starts}: ${words.padEnd(70)} the shop has ${orders} ${orders === 1 ? "order" : "orders"}`,
  );
}

function shorten(key: string): string {
  return `${key.slice(0, 12)}…`;
}

/** Tools as commands of your own program: the schema defines the options, and every call is logged. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { createRegistry, createRuntime, defineTool, registerToolsAsCLI } from "toolwright";
import { z } from "zod";

const folder = mkdtempSync(join(tmpdir(), "toolwright-commands-"));

const readItem = defineTool({
  name: "context_read",
  group: "context",
  description: "Read a context item.",
  schema: z.object({
    drive: z.string(),
    path: z.string(),
    offset: z.int().min(1).default(1).describe("First line"),
    tags: z.array(z.string()).default([]),
  }),
  cli: {
    // One text on the command line, two fields in the tool.
    positionals: {
      name: "drive:/path",
      parse: (text) => {
        const [drive, ...path] = text.split(":");
        return { drive, path: path.join(":") };
      },
    },
    aliases: { offset: "-o" },
  },
  execute: (args) => ({ ...args, content: `line ${args.offset}` }),
});

const placeOrder = defineTool({
  name: "place_order",
  description: "Place an order.",
  schema: z.object({ sku: z.string(), quantity: z.int().min(1).default(1) }),
  sideEffect: true,
  idempotent: false,
  needsApproval: ({ quantity }) => quantity > 10,
  approvalPrompt: ({ sku, quantity }) => `Order ${quantity} of ${sku}?`,
  execute: ({ sku, quantity }, ctx) => ({ order: ctx.idempotencyKey?.slice(0, 6), sku, quantity }),
});

const runtime = createRuntime({ store: join(folder, "shop.db") });

/** A real program ends with `await program.parseAsync()`; this one runs here, so that its output can be checked. */
async function type(...words: string[]): Promise<{ printed: string; exitCode: unknown }> {
  let printed = "";
  const program = new Command("shop")
    .exitOverride()
    .configureOutput({ writeOut: (text) => (printed += text), writeErr: (text) => (printed += text) });
  registerToolsAsCLI(program, { registry: createRegistry([readItem, placeOrder]), runtime });
  await program.parseAsync(words, { from: "user" }).catch((error: { exitCode: number }) => {
    process.exitCode = error.exitCode;
  });
  const { exitCode = 0 } = process;
  process.exitCode = undefined;
  console.log(`$ shop ${words.join(" ")}\n${printed}[exit code ${exitCode}]\n`);
  return { printed, exitCode };
}

const read = await type(
  "context",
  "read",
  "disk:/notes/a.md",
  "-o",
  "3",
  "--tags",
  "x",
  "--tags",
  "y",
  "--json",
);
assert.deepEqual(JSON.parse(read.printed), {
  drive: "disk",
  path: "/notes/a.md",
  offset: 3,
  tags: ["x", "y"],
  content: "line 3",
});

const wrong = await type("place-order", "apple", "--quantity", "many");
assert.equal(wrong.exitCode, 2);
assert.match(wrong.printed, /--quantity takes a whole number, not "many"/);

const placed = await type("place-order", "apple", "--quantity", "2", "--run-id", "monday");
assert.equal(placed.exitCode, 0);
// The same call in the same run is the same order. A note on standard error says that nothing was run.
const again = await type("place-order", "apple", "--quantity", "2", "--run-id", "monday");
assert.ok(again.printed.startsWith(placed.printed));
assert.match(again.printed, /this is the logged result of this run/);

if (!process.stdin.isTTY) {
  const waiting = await type("place-order", "apple", "--quantity", "50", "--run-id", "tuesday");
  assert.equal(waiting.exitCode, 3);
  const [request] = await runtime.approvals({ status: "pending", runId: "tuesday" });
  assert.equal(request?.prompt, "Order 50 of apple?");
  await runtime.resolveToolApproval(request.id, { approved: true, decidedBy: "ann" });
  const approved = await type("place-order", "apple", "--quantity", "50", "--run-id", "tuesday", "--json");
  assert.equal((JSON.parse(approved.printed) as { quantity: number }).quantity, 50);
}

await runtime[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });

/** Built-in calls whose process died: write runs again, edit checks the file, bash reports an unknown outcome. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { bash, edit, write } from "toolwright";
import { beforeEach, expect, it } from "vitest";
import { createWorkshop, type Workshop } from "./harness.ts";

const task = { runId: "r1" };
const PATCH = "@@ -1 +1 @@\n-one\n+two\n";
let shop: Workshop;

beforeEach(() => {
  shop = createWorkshop();
  mkdirSync(shop.root);
});

/** Changes the row of a finished call as if its process had died before the outcome was stored. */
function interruptAll(): void {
  const database = new DatabaseSync(shop.store);
  database.exec(
    "UPDATE toolwright_calls SET status = 'started', effect = NULL, output_json = NULL, finished_at_ms = NULL, key_read = NULL",
  );
  database.exec("UPDATE toolwright_owners SET ended_at_ms = 1");
  database.close();
}

it("write runs again: it replaces the file atomically", async () => {
  await shop.open().call(write, { path: "a.txt", content: "x" }, task);
  writeFileSync(join(shop.root, "a.txt"), "half");
  interruptAll();
  expect(await shop.open().call(write, { path: "a.txt", content: "x" }, task)).toMatchObject({
    output: "ok",
  });
  expect(readFileSync(join(shop.root, "a.txt"), "utf8")).toBe("x");
});

it("edit finds the patch in the file and does not apply it again", async () => {
  writeFileSync(join(shop.root, "a.txt"), "one\n");
  await shop.open().call(edit, { path: "a.txt", patch: PATCH }, task);
  interruptAll();
  const outcome = await shop.open().call(edit, { path: "a.txt", patch: PATCH }, task);
  expect(outcome).toMatchObject({ status: "success", output: "ok", replayed: true });
  expect(readFileSync(join(shop.root, "a.txt"), "utf8")).toBe("two\n");
});

it("edit applies a patch that is not in the file", async () => {
  writeFileSync(join(shop.root, "a.txt"), "one\n");
  await shop.open().call(edit, { path: "a.txt", patch: PATCH }, task);
  writeFileSync(join(shop.root, "a.txt"), "one\n");
  interruptAll();
  const outcome = await shop.open().call(edit, { path: "a.txt", patch: PATCH }, task);
  expect(outcome).toMatchObject({ status: "success", output: "ok", replayed: false });
  expect(readFileSync(join(shop.root, "a.txt"), "utf8")).toBe("two\n");
});

it("a model reads that the outcome of bash is unknown, once per interrupted call, and may call it once more", async () => {
  const count = { cmd: "sh", args: ["-c", "echo x >> count"] };
  await shop.open().call(bash, count, task);
  interruptAll();
  const runtime = shop.open();
  const told = await runtime.call(bash, count, { ...task, toolCallId: "call_1" });
  expect(told).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
  if (told.status === "error") expect(told.error.toModel().error_type).toBe("outcome_unknown");
  expect(readFileSync(join(shop.root, "count"), "utf8")).toBe("x\n");
  // The model has checked, and calls it again: that is a second call.
  expect(await runtime.call(bash, count, { ...task, toolCallId: "call_2" })).toMatchObject({
    status: "success",
  });
  expect(readFileSync(join(shop.root, "count"), "utf8")).toBe("x\nx\n");
});

it("rule 16: if no model reads the result, an interrupted bash waits for approval", async () => {
  const count = { cmd: "sh", args: ["-c", "echo x >> count"] };
  await shop.open().call(bash, count, task);
  interruptAll();
  expect(await shop.open().call(bash, count, task)).toMatchObject({ status: "pending" });
  expect(readFileSync(join(shop.root, "count"), "utf8")).toBe("x\n");
});

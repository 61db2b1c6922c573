/** A SQLite file that is deleted or replaced while open, and a disk that is full: a clear error, and nothing lost. */
import { chdir, cwd } from "node:process";
import { copyFileSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRuntime } from "../../src/index.ts";
import { openStore } from "../../src/store/open-store.ts";
import { all, change } from "../../src/store/statement.ts";
import { createCharge } from "../semantics/tools.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const [sqlite] = STORE_KINDS;
const task = { runId: "r" };

async function freshAddress(): Promise<string> {
  const store = await sqlite.fresh();
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store.address;
}

describe("a store file", () => {
  const losses: Record<string, (address: string) => void> = {
    "is deleted": (address) => rmSync(address),
    "is deleted with everything next to it": (address) => {
      for (const end of ["", "-wal", "-shm"]) rmSync(address + end, { force: true });
    },
    "is replaced by a copy": (address) => {
      copyFileSync(address, `${address}.copy`);
      renameSync(`${address}.copy`, address);
    },
    "loses the log next to it": (address) => rmSync(`${address}-wal`),
  };

  test.each(Object.entries(losses))(
    "that %s while a tool runs does not let the call end",
    async (_name, lose) => {
      const address = await freshAddress();
      const { charge, effects } = createCharge({}, () => lose(address));
      const runtime = createRuntime({ store: address });
      const outcome = await runtime.call(charge, { amount: 1 }, task).catch((error: unknown) => error);
      expect(outcome).toMatchObject({ code: "TOOL_STORE_FAILED" });
      expect(effects).toHaveLength(1);
      await Promise.allSettled([runtime[Symbol.asyncDispose]()]);
    },
  );

  test.each(Object.entries(losses))(
    "that %s while open lets no further effect happen",
    async (_name, lose) => {
      const address = await freshAddress();
      const { charge, effects } = createCharge();
      const runtime = createRuntime({ store: address });
      await runtime.call(charge, { amount: 1 }, task);
      lose(address);
      const late = await runtime.call(charge, { amount: 2 }, task).catch((error: unknown) => error);
      expect(late).toMatchObject({
        code: "TOOL_STORE_FAILED",
        message: expect.stringContaining("the file was deleted or replaced while open") as string,
      });
      expect(effects).toHaveLength(1);
      await Promise.allSettled([runtime[Symbol.asyncDispose]()]);
    },
  );

  // A check of an unchanged folder does not look at the files, so these tests let the folder grow old first.
  test.each(Object.entries(losses))(
    "in a folder that has not changed for a while, that %s, lets no further effect happen",
    async (_name, lose) => {
      const address = await freshAddress();
      const { charge, effects } = createCharge();
      const runtime = createRuntime({ store: address });
      await runtime.call(charge, { amount: 1 }, task);
      utimesSync(dirname(address), 1, 1);
      await runtime.call(charge, { amount: 2 }, task);
      lose(address);
      for (const amount of [3, 4]) {
        const late = await runtime.call(charge, { amount }, task).catch((error: unknown) => error);
        expect(late).toMatchObject({ code: "TOOL_STORE_FAILED" });
      }
      expect(effects).toHaveLength(2);
      await Promise.allSettled([runtime[Symbol.asyncDispose]()]);
    },
  );

  test("that was opened through a link is checked at its target", async () => {
    const address = await freshAddress();
    const link = `${mkdtempSync(join(tmpdir(), "toolwright-link-"))}/store.db`;
    onTestFinished(() => rmSync(dirname(link), { recursive: true }));
    symlinkSync(address, link);
    const { charge, effects } = createCharge();
    const runtime = createRuntime({ store: link });
    await runtime.call(charge, { amount: 1 }, task);
    rmSync(`${address}-wal`);
    const late = await runtime.call(charge, { amount: 2 }, task).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: "TOOL_STORE_FAILED" });
    expect(effects).toHaveLength(1);
    await Promise.allSettled([runtime[Symbol.asyncDispose]()]);
  });

  test("that is restored can be used again", async () => {
    const address = await freshAddress();
    const store = await openStore(address);
    renameSync(address, `${address}.aside`);
    const write = () => store.transaction(() => change("DELETE FROM toolwright_usage"), "normal");
    await expect(write()).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    renameSync(`${address}.aside`, address);
    expect(await write()).toBe(0);
    await store.close();
  });

  test("that was opened by a relative path is found after a change of the working directory", async () => {
    const address = await freshAddress();
    const before = cwd();
    onTestFinished(() => chdir(before));
    chdir(dirname(address));
    const store = await openStore(basename(address));
    chdir(tmpdir());
    expect(await store.transaction(() => change("DELETE FROM toolwright_usage"), "normal")).toBe(0);
    await store.close();
  });
});

test("a full disk fails the call with a fix, and recorded calls are there when there is space again", async () => {
  const address = await freshAddress();
  const store = await openStore(address);
  onTestFinished(() => store.close());
  const { charge, effects } = createCharge();
  await using runtime = createRuntime({ store });
  await runtime.call(charge, { amount: 1 }, { runId: "before" });
  const limit = (pages: number) => store.read(() => all(`PRAGMA max_page_count = ${pages}`));
  // SQLite never sets the limit below the current size: the next page that it needs does not fit.
  await limit(1);
  const outcomes: unknown[] = [];
  for (let amount = 2; amount < 60 && !(outcomes.at(-1) instanceof Error); amount += 1) {
    outcomes.push(
      await runtime
        .call(charge, { amount }, { runId: "x".repeat(400), callKey: `${"k".repeat(300)}${amount}` })
        .catch((error: unknown) => error),
    );
  }
  expect(outcomes.at(-1)).toMatchObject({
    code: "TOOL_STORE_FAILED",
    message: expect.stringContaining("database or disk is full") as string,
    hint: expect.stringContaining("Free some disk space") as string,
  });
  const done = effects.length;
  await limit(1_000_000);
  expect(await runtime.call(charge, { amount: 100 }, { runId: "after" })).toMatchObject({
    status: "success",
  });
  expect(effects).toHaveLength(done + 1);
  expect(await runtime.calls({ runId: "before" })).toMatchObject([{ status: "success" }]);
});

test("rule 28: a call waits for a store that another process has locked, without blocking this process", async () => {
  const address = await freshAddress();
  const store = await openStore(address);
  onTestFinished(() => store.close());
  const other = new DatabaseSync(address);
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const write = store.transaction(
    () => change("INSERT INTO toolwright_usage (run_id, name) VALUES ('r', 'n')"),
    "normal",
  );
  // This releases the lock. It would never run if the wait blocked.
  setTimeout(() => other.exec("COMMIT"), 100);
  expect(await write).toBe(1);
});

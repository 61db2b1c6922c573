/** Runs that are stopped while a tool runs: they resume in the same attempt, and every effect happens once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openShop } from "../crash/shop.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { createFolder, type Started, start, toolwright } from "./command.ts";
import { ENDLESS, SHOPPING } from "./workflows.ts";

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  /** Stops the run in each of its calls in turn, then lets it finish. */
  async function stopInEachCall(stop: (run: Started, folder: string, store: string) => Promise<void>) {
    await using store = await storeKind.fresh();
    await using shop = await openShop(0);
    const folder = createFolder({ "w.tsx": SHOPPING });
    const common = ["--store", store.address];
    const env = { SHOP_URL: shop.url };
    let first = ["up", "w.tsx", "--run-id", "r"];
    for (const sku of ["b", "c", "d"]) {
      const run = start(folder, [...first, ...common], { env: { ...env, HOLD: sku } });
      await run.saying(`waits for ${sku}`);
      await stop(run, folder, store.address);
      expect((await run.ended).code, sku).toBe(1);
      first = ["resume", "r"];
    }
    const last = await toolwright(folder, ["resume", "r", ...common, "--json"], { env });
    expect(last.json()).toMatchObject({ status: "finished", output: { text: "d" } });
    expect(shop.ledger.map(({ sku }) => sku).sort()).toEqual(["a", "b", "c", "d"]);
    const calls = await toolwright(folder, ["calls", "r", ...common, "--json"]);
    expect(calls.json()).toMatchObject(
      ["a", "b", "c", "d"].map(() => ({ toolName: "order", attempt: 1, status: "success" })),
    );
    expect(readFileSync(join(folder, "requests.txt"), "utf8")).toBe("0\n1\n2\n");
  }

  // Signal handling does not depend on the store.
  const signals = storeKind.name === "SQLite" ? (["SIGTERM", "SIGINT"] as const) : (["SIGTERM"] as const);
  it.each(signals)("resumes after %s in each call", (signal) =>
    stopInEachCall(async (run) => void run.child.kill(signal)),
  );

  it("resumes after a second SIGINT has ended it immediately", () =>
    stopInEachCall(async (run) => {
      run.child.kill("SIGINT");
      await run.saying("Send it again to exit immediately");
      run.child.kill("SIGINT");
    }));

  it("resumes after toolwright cancel in another process", () =>
    stopInEachCall(async (_run, folder, store) => {
      const cancelled = await toolwright(folder, ["cancel", "r", "--store", store, "--json"]);
      expect(cancelled.json()).toMatchObject({ status: "cancelled" });
    }));
});

it("stops an endless loop of quick tasks on SIGINT", async () => {
  const folder = createFolder({ "w.tsx": ENDLESS });
  const run = start(folder, ["up", "w.tsx", "--run-id", "r"]);
  await run.saying("the loop runs");
  run.child.kill("SIGINT");
  expect((await run.ended).code).toBe(1);
  const runs = await toolwright(folder, ["ps", "--json"]);
  expect(runs.json()).toMatchObject([{ runId: "r", status: "cancelled" }]);
});

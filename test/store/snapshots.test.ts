/** The rows of snapshots, on both stores. */
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import {
  deleteSnapshots,
  listSnapshots,
  readIndexHash,
  readSnapshot,
  saveSnapshot,
  type SnapshotRow,
} from "../../src/store/tables/snapshots.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const row = (fields: Partial<SnapshotRow> = {}): SnapshotRow => ({
  name: "run",
  seq: 1,
  runId: "run",
  gitDir: "a".repeat(64),
  commit: "1".repeat(40),
  noteJson: JSON.stringify({ label: "x \0 \ud800" }),
  indexHash: `${"b".repeat(64)}@1700000000`,
  takenAtMs: 1_700_000_000_000,
  ...fields,
});

describe.each(STORE_KINDS)("snapshots in $name", (kind) => {
  it("are read by name and number, replaced, listed in order and deleted by name", async () => {
    await using fresh = await kind.fresh();
    const store = await openStore(fresh.address);
    const save = (one: SnapshotRow) => store.transaction(() => saveSnapshot(one), "normal");
    try {
      for (const seq of [10, 9, 1]) await save(row({ seq, takenAtMs: 1_000 + seq, indexHash: `h${seq}` }));
      await save(row({ name: "Other", runId: "Other", gitDir: "c" }));
      await save(row({ seq: 9, commit: "2".repeat(40), takenAtMs: 1_009, indexHash: "h9" }));
      expect(await store.read(() => readSnapshot("run", 9))).toEqual(
        row({ seq: 9, commit: "2".repeat(40), takenAtMs: 1_009, indexHash: "h9" }),
      );
      expect(await store.read(() => readSnapshot("run", 2))).toBeUndefined();
      const names = (await store.read(() => listSnapshots(null))).map(({ name, seq }) => `${name}/${seq}`);
      expect(names).toEqual(["Other/1", "run/1", "run/9", "run/10"]);
      expect(await store.read(() => listSnapshots("run"))).toHaveLength(3);
      expect(await store.read(() => readIndexHash("a".repeat(64)))).toBe("h10");
      expect(await store.read(() => readIndexHash("nowhere"))).toBeUndefined();
      expect(await store.transaction(() => deleteSnapshots("run"), "normal")).toBe(3);
      expect(await store.read(() => listSnapshots(null))).toHaveLength(1);
    } finally {
      await store.close();
    }
  });
});

/** Opening a store: by several processes concurrently, and with a damaged or newer file. */
import { createHash, randomBytes } from "node:crypto";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { change } from "../../src/store/statement.ts";
import { createCrashProgram } from "../../src/testing/index.ts";
import { STORE_KINDS } from "../store-kinds.ts";
import { bundled } from "../started-programs.ts";

const [sqlite] = STORE_KINDS;

test.each(STORE_KINDS)(
  "several processes that open a new store concurrently share it, on $name",
  async (storeKind) => {
    await using store = await storeKind.fresh();
    const program = createCrashProgram(bundled(new URL("./programs/open-store.ts", import.meta.url)));
    const args = [store.address, String(Date.now() + 700)];
    const runs = await Promise.all(Array.from({ length: 5 }, () => program.run({ args })));
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1);
  },
);

describe("a SQLite file", () => {
  /** The file and all files next to it. */
  const stateOf = (address: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(dirname(address)).map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(`${dirname(address)}/${name}`))
          .digest("hex"),
      ]),
    );

  async function makeStore(address: string): Promise<void> {
    const store = await openStore(address);
    await store.close();
  }

  const damages: Record<string, (address: string) => void> = {
    "holds something else": (address) =>
      writeFileSync(address, "This is a letter, not a database.\n".repeat(200)),
    "holds a few bytes": (address) => writeFileSync(address, "hello"),
    "was overwritten in its middle": (address) => {
      const bytes = readFileSync(address);
      writeFileSync(address, Buffer.concat([bytes.subarray(0, 100), randomBytes(bytes.length - 100)]));
    },
    "was cut off": (address) => truncateSync(address, 4_096),
  };

  test.each(Object.entries(damages))(
    "that %s is refused with TOOL_STORE_DAMAGED and not changed",
    async (_name, damage) => {
      await using store = await sqlite.fresh();
      await makeStore(store.address);
      damage(store.address);
      const before = stateOf(store.address);
      await expect(openStore(store.address)).rejects.toMatchObject({ code: "TOOL_STORE_DAMAGED" });
      expect(stateOf(store.address)).toEqual(before);
    },
  );

  test("of a newer version is refused with TOOL_STORE_VERSION and not changed", async () => {
    await using fresh = await sqlite.fresh();
    const store = await openStore(fresh.address);
    await store.transaction(
      () => change("UPDATE toolwright_meta SET value = '9999' WHERE name = 'version'"),
      "full",
    );
    await store.close();
    const before = stateOf(fresh.address);
    await expect(openStore(fresh.address)).rejects.toMatchObject({ code: "TOOL_STORE_VERSION" });
    expect(stateOf(fresh.address)).toEqual(before);
  });

  test("in a folder that does not exist is refused with TOOL_STORE_FAILED, and the path is named", async () => {
    await using fresh = await sqlite.fresh();
    const address = `${dirname(fresh.address)}/missing/store.db`;
    await expect(openStore(address)).rejects.toMatchObject({
      code: "TOOL_STORE_FAILED",
      message: expect.stringContaining(address) as string,
    });
  });
});

test("a PostgreSQL server that cannot be reached is TOOL_STORE_FAILED, and the password is not in the message", async () => {
  const opening = openStore("postgres://someone:hidden@127.0.0.1:1/nowhere");
  await expect(opening).rejects.toMatchObject({
    code: "TOOL_STORE_FAILED",
    message: expect.not.stringContaining("hidden") as string,
  });
});

test.skipIf(process.getuid?.() !== 0)(
  "a store in a folder that the user cannot write to is refused with the folder as the reason",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "toolwright-folder-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    chmodSync(folder, 0o755);
    const path = join(folder, "toolwright.db");
    await (await openStore(path)).close();
    chmodSync(path, 0o666);
    const source = new URL("../../src/store/open-store.ts", import.meta.url).href;
    const program = `import { openStore } from ${JSON.stringify(source)};
await openStore(${JSON.stringify(path)}).catch(({ message, hint }) => console.log(message, hint));`;
    // Another user: root may write everywhere.
    const { stdout } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", program], {
      uid: 65_534,
      gid: 65_534,
      encoding: "utf8",
      cwd: folder,
    });
    expect(stdout).toContain("this user cannot create files in its folder");
    expect(stdout).toContain("Allow this user to write to the folder");
  },
);

/** SQLite errors, by their primary code. */
import { expect, test } from "vitest";
import { asOpenError, asSqliteStoreError, isBusy, whenFree } from "./errors.ts";

const sqliteError = (errcode: number): Error => Object.assign(new Error("failed"), { errcode });

test("a lock is busy, even with an extended code", () => {
  expect([5, 6, 5 | (1 << 8), 13].map((code) => isBusy(sqliteError(code)))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(isBusy(new Error("SQLITE_BUSY"))).toBe(false);
});

test("an action is repeated while the database is locked", async () => {
  let tries = 0;
  const action = (): string => {
    tries += 1;
    if (tries < 3) throw sqliteError(5);
    return "done";
  };
  expect(await whenFree(action)).toBe("done");
});

test("another error is thrown immediately", async () => {
  await expect(
    whenFree(() => {
      throw sqliteError(11);
    }),
  ).rejects.toMatchObject({ errcode: 11 });
});

test("a full disk and a damaged file say what to do", () => {
  expect(asSqliteStoreError(sqliteError(13), "a.db")).toMatchObject({
    code: "TOOL_STORE_FAILED",
    hint: expect.stringContaining("Free some disk space") as string,
  });
  expect(asOpenError(sqliteError(26), "a.db")).toMatchObject({ code: "TOOL_STORE_DAMAGED" });
});

test("an error of the program stays unchanged", () => {
  const error = new Error("a bug");
  expect([asSqliteStoreError(error, "a.db"), asOpenError(error, "a.db")]).toEqual([error, error]);
});

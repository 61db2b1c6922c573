/** The password of a pasted command. */
import { expect, test } from "vitest";
import { withoutPassword } from "../operate/store-address.ts";
import { isMasked, unmask } from "./masked-store.ts";

const WHOLE = "postgres://ann:s3cr@t@db.example:5432/app?application_name=x";
const PRINTED = withoutPassword(WHOLE);
const noConfig = (): Promise<undefined> => Promise.resolve(undefined);
/** No password file of the machine is used. */
const EMPTY = { PGPASSFILE: "/nowhere/pgpass" };

test("only a masked PostgreSQL address needs its password", () => {
  expect(PRINTED).toContain(":***@");
  expect([PRINTED, WHOLE, "postgres://ann@db/app", "folder:***@x.db"].map(isMasked)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(isMasked(withoutPassword("postgres://db/app?user=ann&password=x"))).toBe(true);
});

test("a variable or a config with the same address has it", async () => {
  const other = "postgres://ann:other@db.example:5432/another";
  const environment = { ...EMPTY, OTHER_URL: other, DATABASE_URL: WHOLE };
  expect(await unmask(PRINTED, noConfig, environment)).toBe(WHOLE);
  expect(await unmask(PRINTED, () => Promise.resolve(WHOLE), EMPTY)).toBe(WHOLE);
});

test("else the driver reads it; without any of them the error says where to put it", async () => {
  const driver = { ...EMPTY, PGPASSWORD: "s3cr@t" };
  expect(await unmask(PRINTED, noConfig, driver)).toBe(
    "postgres://ann@db.example:5432/app?application_name=x",
  );
  await expect(unmask(PRINTED, noConfig, EMPTY)).rejects.toMatchObject({
    code: "CLI_USAGE",
    hint: expect.stringContaining("PGPASSWORD") as string,
  });
});

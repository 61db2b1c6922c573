/** A server that crashes forgets transactions, and gives their ids to new ones. */
import { Client } from "pg";
import { expect, inject, test } from "vitest";
import { openPostgresStore } from "../../src/postgres.ts";
import { all, change } from "../../src/store/statement.ts";
import { openCuttingProxy } from "./cutting-proxy.ts";
import { startServer } from "./start-server.ts";

const add = (name: string) =>
  change("INSERT INTO toolwright_usage (run_id, name, used) VALUES ('r1', ?1, 1)", name);

/** Another client makes transactions, each of which gets the next id. */
async function commitOthers(address: string, count: number): Promise<void> {
  const other = new Client({ connectionString: address });
  await other.connect();
  for (let n = 0; n < count; n += 1)
    await other.query("INSERT INTO toolwright_usage (run_id, name, used) VALUES ('other', $1, 1)", [n]);
  await other.end();
}

test("a commit that a crash of the server has lost is made again, or fails if another transaction may have its id", async () => {
  const server = await startServer(inject("publicRoot"), "password", true);
  try {
    const address = `${server.address}/postgres`;
    await using proxy = await openCuttingProxy(address);
    const store = await openPostgresStore({ connectionString: proxy.address });
    /** The lost transaction is the last one, so its id is among the next ones. */
    const loseCommitOf = (name: string, others: number): Promise<number> => {
      proxy.cutAt("COMMIT", "before", async () => {
        await server.crash();
        await server.start();
        await commitOthers(address, others);
      });
      return store.transaction(() => add(name), "normal");
    };
    await store.transaction(() => add("a"), "normal");
    await loseCommitOf("b", 0);
    await expect(loseCommitOf("c", 3)).rejects.toMatchObject({
      code: "TOOL_STORE_FAILED",
      message: expect.stringContaining("the outcome is unknown") as string,
    });
    const rows = await store.read(() =>
      all("SELECT name FROM toolwright_usage WHERE run_id = 'r1' ORDER BY name"),
    );
    expect(rows.map(({ name }) => name)).toEqual(["a", "b"]);
    await store.close();
  } finally {
    await server.end();
  }
});

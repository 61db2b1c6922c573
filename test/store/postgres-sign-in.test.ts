/** Errors of a real server that refuses the connection because of a password, user or database. */
import { expect, inject, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool } from "../../src/index.ts";
import { openPostgresStore } from "../../src/postgres.ts";
import { freshPostgres } from "../postgres/fresh-postgres.ts";
import { startServer } from "../postgres/start-server.ts";

async function refusal(address: URL): Promise<{ code: string; message: string; hint: string }> {
  const opened = await openPostgresStore({ connectionString: address.href, retryMs: 0 }).catch(
    (error: unknown) => error,
  );
  return opened as { code: string; message: string; hint: string };
}

const SIGN_IN = /^Correct the user name or the password in the address of the store/;

/** The shared server uses clear-text passwords; scram-sha-256 needs its own server. */
async function addressOf(auth: string): Promise<string> {
  if (auth === "password") return freshPostgres();
  const server = await startServer(inject("publicRoot"), "scram-sha-256");
  onTestFinished(() => server.end());
  return `${server.address}/postgres`;
}

test.each(["password", "scram-sha-256"])(
  "the error names a wrong password, user or database if the server uses %s",
  async (auth) => {
    const address = await addressOf(auth);

    const wrongPassword = new URL(address);
    wrongPassword.password = "wrong-secret";
    const error = await refusal(wrongPassword);
    expect(error).toMatchObject({
      code: "TOOL_STORE_FAILED",
      message: expect.stringContaining("password authentication failed") as string,
      hint: expect.stringMatching(SIGN_IN) as string,
    });
    expect(JSON.stringify(error) + error.message).not.toContain("wrong-secret");

    const noPassword = new URL(address);
    noPassword.password = "";
    expect(await refusal(noPassword)).toMatchObject({
      code: "TOOL_STORE_FAILED",
      hint: expect.stringMatching(SIGN_IN) as string,
    });

    const wrongUser = new URL(address);
    wrongUser.username = "nobody_here";
    expect(await refusal(wrongUser)).toMatchObject({
      code: "TOOL_STORE_FAILED",
      hint: expect.stringMatching(SIGN_IN) as string,
    });

    const wrongDatabase = new URL(address);
    wrongDatabase.pathname = "/missing";
    expect(await refusal(wrongDatabase)).toMatchObject({
      code: "TOOL_STORE_FAILED",
      hint: expect.stringMatching(/^Create the database, or correct its name/) as string,
    });
  },
);

test("a call on a runtime with a wrong password says so too", async () => {
  const address = new URL(await freshPostgres());
  address.password = "wrong-secret";
  await using runtime = createRuntime({ store: address.href });
  const look = defineTool({ name: "look", schema: z.object({}), execute: () => 1 });
  await expect(runtime.call(look, {})).rejects.toMatchObject({
    code: "TOOL_STORE_FAILED",
    hint: expect.stringMatching(SIGN_IN) as string,
  });
});

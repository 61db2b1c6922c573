/** Runs work on a real PostgreSQL server that is started for it. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export async function withPostgres<T>(work: (address: string) => Promise<T>): Promise<T> {
  const server = spawn(
    process.execPath,
    [new URL("../test/postgres/server-process.ts", import.meta.url).pathname],
    { stdio: ["pipe", "pipe", "ignore"] },
  );
  const said = await new Promise<string>((resolve) => createInterface(server.stdout).once("line", resolve));
  const { address, failure } = JSON.parse(said) as { address?: string; failure?: string };
  if (address === undefined) throw new Error(`PostgreSQL could not be started: ${failure}`);
  try {
    return await work(`${address}/postgres`);
  } finally {
    server.stdin.end();
    await new Promise((resolve) => server.once("close", resolve));
  }
}

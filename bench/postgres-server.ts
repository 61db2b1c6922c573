/** Runs work on a real PostgreSQL server that is started for it. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** @param options.durable flush every commit to the disk, as PostgreSQL does by default */
export async function withPostgres<T>(
  work: (address: string) => Promise<T>,
  options: { readonly durable?: boolean } = {},
): Promise<T> {
  const server = spawn(
    process.execPath,
    [
      new URL("../test/postgres/server-process.ts", import.meta.url).pathname,
      ...(options.durable === true ? ["durable"] : []),
    ],
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

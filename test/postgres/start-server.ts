/** Starts a real PostgreSQL server in a process of its own. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { publicNode } from "../public-root.ts";

export interface PostgresServer {
  readonly address: string;
  stop(): Promise<void>;
}

/** @param root this project, where every user of the machine can read it: the server does not run as root */
export async function startServer(root: string): Promise<PostgresServer> {
  const child = spawn(publicNode(root), [join(root, "test/postgres/server-process.ts")], {
    stdio: ["pipe", "pipe", "ignore"],
    // An interrupt at the terminal ends this process, and that ends the server in order.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const said = await new Promise<string>((resolve) => {
    createInterface(child.stdout).once("line", resolve);
    void ended.then(() => resolve('{"failure":"its process ended without a word"}'));
  });
  const { address, failure } = JSON.parse(said) as { address?: string; failure?: string };
  if (address === undefined) {
    throw new Error(`PostgreSQL could not be started for the tests that need it: ${failure}`);
  }
  return {
    address,
    stop: () => {
      child.stdin.end();
      return ended;
    },
  };
}

/** Starts a real PostgreSQL server in its own process. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { publicNode } from "../public-root.ts";

export interface PostgresServer {
  readonly address: string;
  /** Shuts the server down and keeps its data. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends the server immediately, without a shutdown. Needs `keepsCommits`. */
  crash(): Promise<void>;
  end(): Promise<void>;
}

/**
 * @param root the project, in a location that every user of the machine can read
 * @param auth the authentication method of the server; `durable`: a password, and the durability that PostgreSQL has by default
 * @param keepsCommits whether a commit outlives a crash of the server. Slower.
 */
export async function startServer(
  root: string,
  auth: "password" | "scram-sha-256" | "durable" = "password",
  keepsCommits = false,
): Promise<PostgresServer> {
  const given = [auth, ...(keepsCommits ? ["keeps-commits"] : [])];
  const child = spawn(publicNode(root), [join(root, "test/postgres/server-process.ts"), ...given], {
    stdio: ["pipe", "pipe", "ignore"],
    // An interrupt at the terminal ends this process, which then shuts the server down cleanly.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface(child.stdout);
  const nextLine = (): Promise<string> =>
    new Promise((resolve) => {
      lines.once("line", resolve);
      void ended.then(() => resolve('{"failure":"its process ended unexpectedly"}'));
    });
  const say = async (line: string): Promise<void> => {
    const answer = nextLine();
    child.stdin.write(`${line}\n`);
    const { failure } = JSON.parse(await answer) as { failure?: string };
    if (failure !== undefined) throw new Error(`PostgreSQL did not ${line}: ${failure}`);
  };
  const { address, failure } = JSON.parse(await nextLine()) as { address?: string; failure?: string };
  if (address === undefined) {
    throw new Error(`PostgreSQL could not be started: ${failure}`);
  }
  return {
    address,
    stop: () => say("stop"),
    start: () => say("start"),
    crash: () => say("crash"),
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}

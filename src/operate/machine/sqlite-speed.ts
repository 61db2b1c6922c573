/** Commits and calls in a new SQLite file next to the store, on the same disk. The file is deleted afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { measureCalls } from "./call-speed.ts";
import { errnoOf } from "../../sandbox/files/file-error.ts";
import { type FileSystem, fileSystemOf } from "./file-system.ts";
import { type Budget, judge, type Measurement, notMeasured, sample } from "./measurement.ts";

const SLOW_COMMIT_MS = 2;
const SLOW_FULL_COMMIT_MS = 10;
const SLOW_CALL_MS = 5;

/** @param folder the folder of the store */
export async function measureSqlite(folder: string, budget: Budget): Promise<Measurement[]> {
  const fileSystem = fileSystemOf(folder);
  let scratch: string;
  try {
    scratch = mkdtempSync(join(folder, ".toolwright-doctor-"));
  } catch (error) {
    return [
      notMeasured(
        "commit",
        `the folder ${folder} cannot be written (${errnoOf(error) ?? "unknown error"})`,
        "Allow this user to write to the folder, or choose another store.",
      ),
    ];
  }
  try {
    const commits = [
      await measureCommit(scratch, "commit", budget, fileSystem),
      await measureCommit(scratch, "commit-full", budget, fileSystem),
    ];
    const calls = await measureCalls(join(scratch, "calls.db"), budget, SLOW_CALL_MS, commits);
    const [commit, ...others] = [...commits, ...calls];
    return commit === undefined ? [] : [withWarning(commit, fileSystem), ...others];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measureCommit(
  scratch: string,
  name: "commit" | "commit-full",
  budget: Budget,
  fileSystem: FileSystem,
): Promise<Measurement> {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const isFull = name === "commit-full";
  using database = closing(new DatabaseSync(join(scratch, `${name}.db`)));
  database.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=${isFull ? "FULL" : "NORMAL"}`);
  database.exec("CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)");
  const insert = database.prepare("INSERT INTO row (text) VALUES (?)");
  const text = "x".repeat(200);
  const what = isFull ? "one commit that survives a power loss" : "one commit that survives a crash";
  return judge(
    {
      name,
      what,
      slowMs: isFull ? SLOW_FULL_COMMIT_MS : SLOW_COMMIT_MS,
      advice: adviceFor(fileSystem),
    },
    await sample(budget, () => insert.run(text)),
  );
}

function adviceFor(fileSystem: FileSystem): string {
  if (fileSystem.kind === "network")
    return `The store is on a network disk (${fileSystem.name}). Move it to a local disk, or use PostgreSQL.`;
  return 'Move the store to a faster disk. If a power loss may cost the last calls, set durability: "process".';
}

/** Even without a slow commit, these file systems are a risk for a store. */
function withWarning(measurement: Measurement, fileSystem: FileSystem): Measurement {
  if (fileSystem.kind === "disk" || measurement.status === "note") return measurement;
  const [risk, remedy] =
    fileSystem.kind === "memory"
      ? ["the store is in memory (tmpfs) and is lost when the machine restarts", "Move the store to a disk."]
      : [
          `the store is on a network disk (${fileSystem.name}), where SQLite's locks are not reliable`,
          "Move the store to a local disk, or use PostgreSQL.",
        ];
  return { ...measurement, status: "note", detail: `${measurement.detail}; ${risk}`, remedy };
}

function closing<T extends { close(): void }>(opened: T): T & Disposable {
  return Object.assign(opened, { [Symbol.dispose]: () => opened.close() });
}

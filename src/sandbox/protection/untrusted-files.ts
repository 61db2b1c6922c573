/**
 * Remembers which of Toolwright's own files appeared while an agent's command ran, so that the command line does not
 * obey them before the user has reviewed them. A command also leaves a note while it runs: what appears meanwhile is
 * marked at its end, which never comes if the process is killed. Marks and notes are below the user's home, which no
 * sandboxed command sees. They must never be in the root: the agent could delete them there.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isInside } from "../is-inside.ts";
import { isInRoot, temporaryFolders } from "../temporary-folder.ts";

/** Must never throw: the call that it belongs to fails with a better error. */
export function distrustFile(path: string): void {
  keep("untrusted", markName(path), `${path}\n`);
}

/** The file to delete in order to trust the path, or undefined if the path is trusted. */
export function findDistrust(path: string): string | undefined {
  const mark = stateFolders("untrusted")
    .map((folder) => join(folder, markName(path)))
    .find((each) => existsSync(each));
  return mark ?? readNotes().find(({ note }) => isNewFor(note, placeOf(path)))?.file;
}

/**
 * Call it before a command starts, with all of Toolwright's own files in the root. Must never throw.
 *
 * @returns what to call once the files that appeared are marked
 */
export function noteCommand(root: string, own: readonly string[]): () => void {
  for (const { file, note } of readNotes()) {
    const isOfRoot = note.root === root;
    if (mayStillRun(note) || (!isOfRoot && existsSync(note.root))) continue;
    for (const path of own) if (isOfRoot && isNewFor(note, path)) distrustFile(path);
    removeQuietly(file);
  }
  const known = own.map((path) => [path, fileBehind(path) ?? ""]);
  const started = { at: Date.now(), process: process.pid, space: processSpace() };
  const note: Note = { root, ...started, known: Object.fromEntries(known) as Note["known"] };
  const file = keep("running", randomUUID(), JSON.stringify(note));
  return () => (file === undefined ? undefined : removeQuietly(file));
}

/** Which file a name leads to. A link's target may be created, and links on the way to it may change. */
export function fileBehind(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    const { dev, ino } = statSync(real, { bigint: true });
    return `${dev}:${ino}:${real}`;
  } catch {
    return undefined; // It is gone, or the link leads nowhere.
  }
}

interface Note {
  readonly root: string;
  readonly at: number;
  readonly process: number;
  /** Ids of processes mean nothing in another PID namespace. */
  readonly space: string;
  /** By path: the file that it led to, or an empty text. */
  readonly known: Readonly<Record<string, string>>;
}

function isNewFor({ root, known }: Note, path: string): boolean {
  return isInside(path, root) && known[path] !== (fileBehind(path) ?? "");
}

/** Twice as long as a command may take. */
const LONGEST_MS = 7_200_000;

function mayStillRun({ at, process: id, space }: Note): boolean {
  return Date.now() - at < LONGEST_MS && (space !== processSpace() || existsSync(`/proc/${id}`));
}

function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return ""; // Not Linux.
  }
}

function readNotes(): { readonly file: string; readonly note: Note }[] {
  return stateFolders("running").flatMap((folder) => {
    try {
      return readdirSync(folder).flatMap((name) => {
        const file = join(folder, name);
        const note = readNote(file);
        return note === undefined ? [] : [{ file, note }];
      });
    } catch {
      return []; // There are none.
    }
  });
}

function readNote(file: string): Note | undefined {
  try {
    const note = JSON.parse(readFileSync(file, "utf8")) as Partial<Note> | null;
    return typeof note?.root === "string" && typeof note.known === "object" ? (note as Note) : undefined;
  } catch {
    return undefined; // Its command has just ended, or has not started.
  }
}

/** Returns the path of the file, or undefined if no folder can be written. */
function keep(kind: "untrusted" | "running", name: string, text: string): string | undefined {
  for (const folder of stateFolders(kind)) {
    if (isInRoot(folder)) continue;
    const file = join(folder, name);
    for (const prepare of [false, true]) {
      try {
        if (prepare) mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(file, text, { mode: 0o600 });
        return file;
      } catch {
        // The folder is missing, or not writable: make it, or try the next one.
      }
    }
  }
  return undefined;
}

function removeQuietly(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // The user has removed it, in order to trust a file.
  }
}

function stateFolders(kind: "untrusted" | "running"): string[] {
  const state = process.env["XDG_STATE_HOME"];
  const isNamed = state !== undefined && isAbsolute(state);
  const home = homedir();
  return [
    ...(isNamed ? [join(state, "toolwright", kind)] : []),
    // A user of a service may have a home that does not exist.
    ...(existsSync(home) ? [join(home, ".local/state/toolwright", kind)] : []),
    ...temporaryFolders().map((folder) => join(folder, `toolwright-${process.getuid?.() ?? 0}`, kind)),
  ];
}

function markName(path: string): string {
  return createHash("sha256").update(placeOf(path)).digest("hex");
}

/** Uses the real folder, but does not resolve the file itself, which may be a link. */
function placeOf(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path; // The folder is gone.
  }
}

/**
 * The commit message of a snapshot: a line for people, then what the list of snapshots reads back, as JSON so that no
 * label can imitate it.
 */
export interface SnapshotNote {
  readonly runId: string;
  readonly label: string;
  readonly takenAtMs: number;
  readonly toolUseId?: string | undefined;
}

export function formatMessage({ runId, label, takenAtMs, toolUseId }: SnapshotNote): string {
  const name = toolUseId === undefined ? label : `${label} (${toolUseId})`;
  const subject = name.replaceAll(/[\p{C}\s]+/gu, " ").trim();
  const note = JSON.stringify({ runId, label, takenAtMs, toolUseId });
  return `${subject === "" ? "Snapshot" : subject}\n\n${MARK}${note}\n`;
}

/** `undefined` for a commit that is no snapshot. */
export function parseMessage(message: string): SnapshotNote | undefined {
  const last = message.trimEnd().split("\n").at(-1) ?? "";
  if (!last.startsWith(MARK)) return undefined;
  try {
    const note: unknown = JSON.parse(last.slice(MARK.length));
    return isNote(note) ? note : undefined;
  } catch {
    return undefined; // Somebody else's words after our mark.
  }
}

const MARK = "Toolwright-Snapshot: ";

function isNote(value: unknown): value is SnapshotNote {
  if (typeof value !== "object" || value === null) return false;
  const { runId, label, takenAtMs, toolUseId } = value as Partial<Record<keyof SnapshotNote, unknown>>;
  return (
    typeof runId === "string" &&
    typeof label === "string" &&
    typeof takenAtMs === "number" &&
    (toolUseId === undefined || typeof toolUseId === "string")
  );
}

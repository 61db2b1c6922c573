/**
 * The commit message of a snapshot: a line for people, then the note as JSON. Lists read the note from the store,
 * because a message is as easy to forge as a ref.
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

/** `undefined` if the text is not a note. */
export function parseNote(json: string): SnapshotNote | undefined {
  try {
    const note: unknown = JSON.parse(json);
    return isNote(note) ? note : undefined;
  } catch {
    return undefined; // A damaged row is skipped, like a ref that is not a snapshot.
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

/**
 * Parses what the sandbox reports on the status descriptor: one JSON document per line, from bubblewrap or from the
 * launcher. The report comes from another process, so fields that do not fit are ignored.
 */

export interface StatusReport {
  /** The sandbox was set up before the command was tried. */
  readonly started: boolean;
  /** Set only if the command actually ran. */
  readonly exitCode: number | undefined;
  /** The launcher could not exec the command. */
  readonly execErrno: number | undefined;
  /** The launcher could not confine itself, and ran nothing. */
  readonly failed: string | undefined;
  /** The launcher found a different root than the plan expects, and ran nothing. */
  readonly mismatch: string | undefined;
}

export function parseStatus(text: string): StatusReport {
  const fields: Record<string, unknown> = {};
  for (const line of text.split("\n")) {
    if (line.trim() !== "") Object.assign(fields, parseLine(line));
  }
  return {
    started: numberOf(fields["child-pid"]) !== undefined,
    exitCode: numberOf(fields["exit-code"]),
    execErrno: numberOf(fields["exec-errno"]),
    failed: textOf(fields["failed"]),
    mismatch: textOf(fields["mismatch"]),
  };
}

function parseLine(line: string): object {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // Truncated, because its writer was killed.
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

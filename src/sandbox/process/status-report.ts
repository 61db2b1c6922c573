/**
 * What the sandbox says about itself on the status descriptor: one JSON document per line, from bubblewrap or from the
 * launcher. It comes from another process, so it is parsed, and what does not fit is left out.
 */

export interface StatusReport {
  /** The sandbox stood before the command was tried. */
  readonly started: boolean;
  /** Only when the command really ran. */
  readonly exitCode: number | undefined;
  /** The launcher could not become the command. */
  readonly execErrno: number | undefined;
  /** The launcher could not confine itself, and ran nothing. */
  readonly failed: string | undefined;
  /** The launcher found another root than the one that was planned for, and ran nothing. */
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
    return {}; // Cut off by the end of its writer.
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

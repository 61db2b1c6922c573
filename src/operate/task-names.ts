/** Names of tasks as operators write them: `pay`, or `pay[1.0]` for one pass of the loops around it. */

export interface TaskName {
  readonly nodeId: string;
  /** `undefined`: every pass. */
  readonly path: string | undefined;
}

interface Known {
  readonly nodeId: string;
  readonly path: string;
}

/** `undefined` if no known task has this name. */
export function parseTaskName(text: string, known: readonly Known[]): TaskName | undefined {
  if (known.some(({ nodeId }) => nodeId === text)) return { nodeId: text, path: undefined };
  const [, nodeId = "", path = ""] = /^(.+)\[([^[\]]+)\]$/s.exec(text) ?? [];
  return known.some((one) => one.nodeId === nodeId && one.path === path) ? { nodeId, path } : undefined;
}

const MOST_NAMES = 20;

/** "Its tasks are "a", "b"." */
export function listTasks(known: readonly Known[]): string {
  const names = [...new Set(known.filter(({ path }) => path !== "revert").map(({ nodeId }) => nodeId))];
  if (names.length === 0) return "It has no tasks yet.";
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : "";
  return `Its tasks are ${names
    .slice(0, MOST_NAMES)
    .map((name) => JSON.stringify(name))
    .join(", ")}${more}.`;
}

/**
 * Gives each call of a response a unique id. The AI SDK matches calls, approval requests and results by the id of the
 * model. Some models reuse an id or leave it empty, and one call would then replace another.
 */

interface Part {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly toolCallId?: unknown;
}

/** @param parts of a whole response */
export function withUniqueCallIds(parts: readonly unknown[], prompt: unknown): unknown[] {
  return parts.map(uniqueCallIds(prompt));
}

/** For the parts of a response, one after another. */
export function uniqueCallIds(prompt: unknown): (part: unknown) => unknown {
  const used = idsIn(prompt);
  /** The unique id of the current call, by the id of the model. */
  const current = new Map<string, string>();
  const complete = new Set<string>();
  const idOf = (id: string): string => {
    const assigned = current.get(id);
    if (assigned !== undefined && !complete.has(id)) return assigned;
    const unique = firstFree(id, used);
    used.add(unique);
    current.set(id, unique);
    complete.delete(id);
    return unique;
  };
  return (part) => {
    const { type, id, toolCallId } = asPart(part);
    if (typeof id === "string" && typeof type === "string" && type.startsWith("tool-input-")) {
      return { ...asPart(part), id: idOf(id) };
    }
    if (typeof toolCallId !== "string") return part;
    if (type === "tool-call") {
      const unique = idOf(toolCallId);
      complete.add(toolCallId);
      return { ...asPart(part), toolCallId: unique };
    }
    // The result of a tool that the provider ran refers to the call before it.
    return { ...asPart(part), toolCallId: current.get(toolCallId) ?? toolCallId };
  };
}

function firstFree(id: string, used: ReadonlySet<string>): string {
  if (id !== "" && !used.has(id)) return id;
  for (let number = 2; ; number += 1) {
    const unique = `${id === "" ? "call" : id}-${number}`;
    if (!used.has(unique)) return unique;
  }
}

function idsIn(prompt: unknown): Set<string> {
  const messages: readonly unknown[] = Array.isArray(prompt) ? prompt : [];
  const parts = messages.flatMap((message): readonly unknown[] => {
    const content = (message as { content?: unknown } | null)?.content;
    return Array.isArray(content) ? content : [];
  });
  return new Set(parts.map((part) => asPart(part).toolCallId).filter((id) => typeof id === "string"));
}

function asPart(part: unknown): Part {
  return typeof part === "object" && part !== null ? part : {};
}

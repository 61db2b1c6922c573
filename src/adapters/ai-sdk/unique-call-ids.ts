/**
 * The AI SDK finds calls, requests for approval and results by the id that the model gave. Some models use an id twice, or
 * leave it empty: then one of the calls would take the place of the other. Each call of a response gets an id of its own.
 */

interface Part {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly toolCallId?: unknown;
}

/** @param parts of a whole response, or of a stream in its order */
export function withUniqueCallIds(parts: readonly unknown[], prompt: unknown): unknown[] {
  const used = idsIn(prompt);
  /** By the model's id: the one that its current call goes by, until that call is complete. */
  const current = new Map<string, string>();
  const complete = new Set<string>();
  const idOf = (id: string): string => {
    const known = current.get(id);
    if (known !== undefined && !complete.has(id)) return known;
    const unique = firstFree(id, used);
    used.add(unique);
    current.set(id, unique);
    complete.delete(id);
    return unique;
  };
  return parts.map((part) => {
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
    // What a provider ran itself refers to the call before it.
    return { ...asPart(part), toolCallId: current.get(toolCallId) ?? toolCallId };
  });
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

/** A recorded response as the parts of a stream. Whole responses come from runs of earlier versions. */

type Fields = Readonly<Record<string, unknown>>;

export function toStreamParts(recorded: unknown): readonly unknown[] {
  if (Array.isArray(recorded)) return recorded;
  const { content, finishReason, usage, warnings, response, providerMetadata } = recorded as Fields;
  const parts = Array.isArray(content) ? (content as Fields[]) : [];
  return [
    { type: "stream-start", warnings: warnings ?? [] },
    ...(typeof response === "object" && response !== null
      ? [{ type: "response-metadata", ...response }]
      : []),
    ...parts.flatMap((part, index) => fromContent(part, `${index + 1}`)),
    { type: "finish", finishReason, usage, ...(providerMetadata === undefined ? {} : { providerMetadata }) },
  ];
}

function fromContent(part: Fields, id: string): Fields[] {
  const { type, text, ...rest } = part;
  if (type !== "text" && type !== "reasoning") return [part];
  return [
    { type: `${type}-start`, id },
    { type: `${type}-delta`, id, delta: text },
    // Loops take the metadata of a block from its last part.
    { ...rest, type: `${type}-end`, id },
  ];
}

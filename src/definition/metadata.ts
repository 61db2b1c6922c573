/** The mark that a tool carries, under the name that existing code looks for. */

export const TOOL_METADATA = Symbol.for("smithers.tool.metadata");

export interface ToolMetadata {
  readonly name: string;
  readonly sideEffect: boolean;
  readonly idempotent: boolean;
}

/** Reads the metadata of a defined tool; `null` for plain AI SDK tools and for values that are no tools. */
export function getDefinedToolMetadata(value: unknown): ToolMetadata | null {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return null;
  const metadata: unknown = (value as Record<symbol, unknown>)[TOOL_METADATA];
  return isMetadata(metadata) ? metadata : null;
}

function isMetadata(value: unknown): value is ToolMetadata {
  return (
    typeof value === "object" &&
    value !== null &&
    "name" in value &&
    typeof value.name === "string" &&
    "sideEffect" in value &&
    typeof value.sideEffect === "boolean" &&
    "idempotent" in value &&
    typeof value.idempotent === "boolean"
  );
}

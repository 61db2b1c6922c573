/** Checks a request as the Messages API does, so that tests find invalid requests before users do. */

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const FIELD_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const ROLES = new Set(["user", "assistant", "system"]);

interface Content {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly id?: unknown;
  readonly tool_use_id?: unknown;
  readonly input?: unknown;
  readonly caller?: { readonly tool_id?: unknown } | null;
}

interface Said {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** The first problem, or `undefined`. */
export function problemWith(body: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof body["model"] !== "string") return "model: Field required";
  if (typeof body["max_tokens"] !== "number") return "max_tokens: Field required";
  return problemWithTools(body["tools"] ?? []) ?? problemWithMessages(body["messages"]);
}

function problemWithTools(tools: unknown): string | undefined {
  if (!Array.isArray(tools)) return "tools: Input should be a valid list";
  const names = new Set<unknown>();
  for (const [index, tool] of (tools as Record<string, unknown>[]).entries()) {
    const { name, type, input_schema: schema } = tool;
    if (names.has(name)) return "tools: Tool names must be unique.";
    names.add(name);
    // Tools of the provider have a type, and no schema.
    if (typeof type === "string" && type !== "custom") continue;
    if (typeof name !== "string" || !NAME.test(name)) {
      return `tools.${index}.custom.name: String should match pattern '${NAME.source}'`;
    }
    const { type: top, ...rest } = (schema ?? {}) as Record<string, unknown>;
    if (top !== "object") return `tools.${index}.custom.input_schema.type: Field required`;
    if (Object.keys(rest["properties"] ?? {}).some((field) => !FIELD_NAME.test(field))) {
      return `tools.${index}.custom.input_schema.properties: Property keys should match pattern '${FIELD_NAME.source}'`;
    }
    if (["anyOf", "oneOf", "allOf"].some((key) => key in rest)) {
      return `tools.${index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
    }
  }
  return undefined;
}

function problemWithMessages(messages: unknown): string | undefined {
  if (!Array.isArray(messages) || messages.length === 0) return "messages: at least one message is required";
  const said = messages as Said[];
  if (said[0]?.role === "assistant") return 'messages: first message must use the "user" role';
  let open: unknown[] = [];
  for (const [index, { role, content }] of said.entries()) {
    if (typeof role !== "string" || !ROLES.has(role)) return `messages.${index}.role: Input should be 'user'`;
    const blocks = blocksOf(content);
    if (blocks === undefined) return `messages.${index}.content: Input should be a valid list`;
    const empty = blocks.some(({ type, text }) => type === "text" && String(text).trim() === "");
    if (blocks.length === 0 || empty) return `messages.${index}: text content blocks must be non-empty`;
    const results = blocks.filter(({ type }) => type === "tool_result").map(({ tool_use_id: id }) => id);
    const stray = results.find((id) => !open.includes(id));
    if (stray !== undefined) {
      return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${JSON.stringify(stray)}`;
    }
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0) {
      return `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}`;
    }
    const unfinished =
      role === "assistant" && index < said.length - 1 ? problemWithEnd(blocks, index) : undefined;
    if (unfinished !== undefined) return unfinished;
    const calls = blocks.filter(({ type }) => type === "tool_use");
    if (calls.some(({ input }) => typeof input !== "object" || input === null || Array.isArray(input))) {
      return `messages.${index}.content.tool_use.input: Input should be a valid dictionary`;
    }
    open = role === "assistant" ? calls.map(({ id }) => id) : [];
  }
  return open.length === 0 ? undefined : "messages: `tool_use` ids were found without `tool_result` blocks";
}

/** A response that another message follows. */
function problemWithEnd(blocks: readonly Content[], index: number): string | undefined {
  const last = blocks.at(-1)?.type;
  if (last === "thinking" || last === "redacted_thinking") {
    return `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`;
  }
  const settled = new Set(blocks.flatMap(({ tool_use_id: id, caller }) => [id, caller?.tool_id]));
  const open = blocks.find(({ type, id }) => RUN_BY_API.has(type) && !settled.has(id));
  if (open === undefined) return undefined;
  return `messages.${index}: \`${String(open.type)}\` ids were found without a corresponding result block: ${String(open.id)}`;
}

const RUN_BY_API: ReadonlySet<unknown> = new Set(["server_tool_use", "mcp_tool_use"]);

function blocksOf(content: unknown): readonly Content[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? (content as Content[]) : undefined;
}

/** The parts of a stored response, for readers that start after it was committed. Knows the forms in which loops store them. */
import type { StreamPartDetails } from "./stream-part.ts";

type Fields = Readonly<Record<string, unknown>>;

/** @param value a stored response of any loop; other stored values have no parts */
export function partsOfResponse(value: unknown): StreamPartDetails[] {
  const parts = Array.isArray(value) ? value.flatMap(fromSdkPart) : partsOfWhole(value);
  return parts.length === 0 ? [] : [{ type: "response-start" }, ...parts];
}

function partsOfWhole(value: unknown): StreamPartDetails[] {
  if (!isFields(value)) return [];
  const { content, answer, response } = value;
  if (isFields(answer)) return partsOfAnswer(answer);
  if (isFields(response) && isFields(response["message"])) return partsOfMessage(response["message"]);
  if (!Array.isArray(content)) return [];
  return [...(content as unknown[]).flatMap(fromContent), finishPart(value["finishReason"], value["usage"])];
}

/** A part of a stream of an AI SDK model. Parts that say nothing to a reader are left out. */
export function fromSdkPart(part: unknown): StreamPartDetails[] {
  if (!isFields(part)) return [];
  const { type, id, delta } = part;
  switch (type) {
    case "text-start":
    case "text-end":
    case "reasoning-start":
    case "reasoning-end":
    case "tool-input-end":
      return [{ type, id: String(id) }];
    case "text-delta":
    case "reasoning-delta":
    case "tool-input-delta":
      return [{ type, id: String(id), delta: String(delta) }];
    case "tool-input-start":
      return [{ type, id: String(id), toolName: String(part["toolName"]) }];
    case "finish":
      return [finishPart(part["finishReason"], part["usage"])];
    default:
      return fromContent(part, 0);
  }
}

/** A part of a whole response. Text becomes one delta. */
function fromContent(part: unknown, index: number): StreamPartDetails[] {
  if (!isFields(part)) return [];
  switch (part["type"]) {
    case "text":
      return blockParts("text", `text-${index}`, part["text"]);
    case "reasoning":
      return blockParts("reasoning", `reasoning-${index}`, part["text"]);
    case "tool-call":
      return [
        callPart(part["toolCallId"], part["toolName"], part["input"], part["providerExecuted"] === true),
      ];
    case "tool-result":
      return [
        {
          type: "tool-result",
          toolCallId: String(part["toolCallId"]),
          toolName: String(part["toolName"]),
          output: part["result"],
          providerExecuted: true,
        },
      ];
    case "source":
      return [{ type: "source", source: part }];
    case "file":
      return fileParts(part);
    default:
      return [];
  }
}

function fileParts({ mediaType, data }: Fields): StreamPartDetails[] {
  const inner: unknown = isFields(data) && !(data instanceof Uint8Array) ? data["data"] : data;
  const text =
    inner instanceof Uint8Array
      ? Buffer.from(inner).toString("base64")
      : typeof inner === "string"
        ? inner
        : "";
  return text === "" ? [] : [{ type: "file", mediaType: String(mediaType), data: text }];
}

export function blockParts(kind: "text" | "reasoning", id: string, text: unknown): StreamPartDetails[] {
  return [
    { type: `${kind}-start`, id },
    { type: `${kind}-delta`, id, delta: String(text) },
    { type: `${kind}-end`, id },
  ];
}

export function callPart(
  toolCallId: unknown,
  toolName: unknown,
  input: unknown,
  providerExecuted = false,
): StreamPartDetails {
  return {
    type: "tool-call",
    toolCallId: String(toolCallId),
    toolName: String(toolName),
    input: typeof input === "string" ? parsed(input) : input,
    ...(providerExecuted ? { providerExecuted } : {}),
  };
}

function parsed(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The model sent invalid JSON. The loop reports it as the result of the call.
    return text;
  }
}

export function finishPart(reason: unknown, usage: unknown): StreamPartDetails {
  const unified = isFields(reason) ? reason["unified"] : reason;
  return {
    type: "finish",
    finishReason: typeof unified === "string" ? unified : "unknown",
    ...(usage === undefined || usage === null ? {} : { usage }),
  };
}

/** A response of a smart agent. */
export function partsOfAnswer({ text, calls, finish, usage }: Fields): StreamPartDetails[] {
  const made = Array.isArray(calls) ? (calls as Fields[]) : [];
  return [
    ...(typeof text === "string" && text !== "" ? blockParts("text", "text-0", text) : []),
    ...callsOfAnswer(made),
    finishPart(made.length > 0 ? "tool-calls" : finish === "cut" ? "length" : "stop", usage),
  ];
}

export function callsOfAnswer(calls: readonly Fields[]): StreamPartDetails[] {
  return calls.map(({ id, name, arguments: input }) => callPart(id, name, input));
}

/** A message of the Anthropic API. */
export function partsOfMessage(message: Fields): StreamPartDetails[] {
  const content = Array.isArray(message["content"]) ? (message["content"] as unknown[]) : [];
  const blocks = content.flatMap((block, index): StreamPartDetails[] => {
    if (!isFields(block)) return [];
    if (block["type"] === "text") return blockParts("text", `text-${index}`, block["text"]);
    if (block["type"] === "thinking") return blockParts("reasoning", `reasoning-${index}`, block["thinking"]);
    return [];
  });
  return [...blocks, ...endOfMessage(message)];
}

/** The parts that are held until the message is committed. */
export function endOfMessage(message: Fields): StreamPartDetails[] {
  const content = Array.isArray(message["content"]) ? (message["content"] as unknown[]) : [];
  const calls = content.flatMap((block): StreamPartDetails[] =>
    isFields(block) && block["type"] === "tool_use"
      ? [callPart(block["id"], block["name"], block["input"])]
      : [],
  );
  return [...calls, finishPart(message["stop_reason"], message["usage"])];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

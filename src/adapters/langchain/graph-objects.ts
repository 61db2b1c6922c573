/**
 * Converts LangChain and LangGraph objects that a tool returns or throws: messages, commands, and exceptions that the
 * graph catches. They are packed as data for the log, and unpacked when a call is replayed.
 */
import {
  BaseMessage,
  mapStoredMessagesToChatMessages,
  RemoveMessage,
  type StoredMessage,
} from "@langchain/core/messages";
import type * as graphModule from "@langchain/langgraph";
import { isDirectToolOutput } from "@langchain/core/messages/tool";
import { ToolwrightError } from "../../errors.ts";
import { importPeer } from "../../load/import-peer.ts";
import { HostValue } from "../../util/encode.ts";
import { lazyModule } from "../../util/lazy.ts";

const graphs = lazyModule(() => importPeer("@langchain/langgraph", () => import("@langchain/langgraph")));

/** Call it only inside a graph: the package is an optional peer. */
export const loadGraphs = (): Promise<Graphs> => graphs.get();

/** LangGraph marks the exceptions that only its own code may catch. */
export function isControlFlow(thrown: unknown): thrown is Error {
  return isObject(thrown) && read(thrown, "is_bubble_up") === true;
}

/**
 * The command of a `ParentCommand`. A tool that throws one has ended; after all other control flow it is called
 * again.
 */
export function commandIn(thrown: unknown): HostValue | undefined {
  if (!isObject(thrown) || read(thrown, "name") !== "ParentCommand") return undefined;
  return new HostValue("langgraph.parent-command", pack(read(thrown, "command")), { value: thrown });
}

/**
 * Whether LangChain passes the output on unchanged instead of wrapping it in a message. Plain data that only looks
 * like a command, such as the response of a service, is wrapped.
 */
export function isDirect(output: unknown): output is object {
  if (!isDirectToolOutput(output) || isPlain(output)) return false;
  return isMessage(output) || isNamed(output, "Command");
}

/** Packs a message or a command; any other output stays unchanged. */
export function packOutput(output: unknown): unknown {
  if (!isDirect(output)) return output;
  const { kind, data } = pack(output) as HostValue;
  return new HostValue(kind, data, { value: output });
}

/** @throws the `ParentCommand` that the tool threw */
export async function unpackOutput(value: HostValue): Promise<unknown> {
  if (value.kind !== "langgraph.parent-command") {
    if (value.source !== undefined) return value.source.value;
    // Messages are part of LangChain; LangGraph may not be installed.
    return unpack(value, value.kind === "langchain.message" ? undefined : await loadGraphs());
  }
  if (value.source !== undefined) throw value.source.value;
  const found = await loadGraphs();
  throw new found.ParentCommand(unpack(value.data, found) as never);
}

type Graphs = typeof graphModule;

function pack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pack);
  if (!isObject(value)) return value;
  if (isMessage(value)) return new HostValue("langchain.message", packFields({ ...value.toDict() }));
  if (isNamed(value, "Command")) {
    const { update, resume, goto, graph } = value as Record<string, unknown>;
    return new HostValue("langgraph.command", packFields({ update, resume, goto, graph }));
  }
  if (isNamed(value, "Send")) {
    const { node, args, timeout } = value as Record<string, unknown>;
    return new HostValue("langgraph.send", packFields({ node, args, timeout }));
  }
  if (isNamed(value, "Overwrite")) return new HostValue("langgraph.overwrite", pack(read(value, "value")));
  return isPlain(value) ? packFields(value) : value;
}

function packFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, item]) => (item === undefined ? [] : [[name, pack(item)]])),
  );
}

function unpack(value: unknown, found: Graphs | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => unpack(item, found));
  if (!HostValue.is(value)) return isPlain(value) ? unpackFields(value, found) : value;
  const data = isPlain(value.data) ? unpackFields(value.data, found) : unpack(value.data, found);
  if (value.kind === "langchain.message") return toMessage(data as StoredMessage);
  if (found === undefined) throw missing(value.kind);
  const { node, args, ...options } = data as { node: string; args: unknown };
  switch (value.kind) {
    case "langgraph.command":
      return new found.Command(data as never);
    case "langgraph.send":
      return new found.Send(node, args, options);
    case "langgraph.overwrite":
      return new found.Overwrite(data);
    default:
      throw missing(value.kind);
  }
}

function toMessage(stored: StoredMessage): BaseMessage | undefined {
  // LangChain cannot deserialize this kind of message.
  if (stored.type === "remove") return new RemoveMessage(stored.data as { id: string });
  return mapStoredMessagesToChatMessages([stored])[0];
}

function unpackFields(fields: object, found: Graphs | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, item]) => [name, unpack(item, found)]));
}

function missing(kind: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_STORE_DAMAGED",
    `A stored output is a "${kind}", which this version cannot rebuild.`,
  );
}

function isMessage(value: unknown): value is BaseMessage {
  return BaseMessage.isInstance(value);
}

function isNamed(value: object, name: string): boolean {
  return read(value, "lg_name") === name;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isPlain(value: unknown): value is object {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function read(value: object, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name];
}

/**
 * The types of the loops. Those of messages are taken from the client that is passed in: the root exports these types, and
 * the SDK is an optional peer, so nothing here may import it.
 */
import type { Approval } from "../../invoke/approval.ts";
import type { EventEnvelope, LoopEventDetails, RuntimeEvent } from "../../invoke/events.ts";
import type { Limits } from "../../invoke/host.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { ToolSource } from "../../tool/offer-tools.ts";

/** The part of the SDK's client that is used; those for other clouds have it too. */
export interface AnthropicClient {
  readonly messages: { create(params: never, options?: never): unknown };
}

/** Where the client's own type is not known. */
interface LooseParams {
  readonly messages: readonly {
    readonly role: "user" | "assistant" | "system";
    readonly content: string | readonly object[];
  }[];
  readonly system?: string | readonly object[] | undefined;
  readonly [option: string]: unknown;
}

interface LooseMessage {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly content: readonly { readonly type: string }[];
  readonly stop_reason: string | null;
}

type CreateParams<Client extends AnthropicClient> = [Parameters<Client["messages"]["create"]>[0]] extends [
  never,
]
  ? LooseParams
  : Parameters<Client["messages"]["create"]>[0];

type MessagesIn<Params> = Params extends { readonly messages: readonly (infer Message)[] } ? Message : never;

/** A message of a conversation, as the client takes it. */
export type MessageParamOf<Client extends AnthropicClient> = MessagesIn<CreateParams<Client>>;

type SystemIn<Params> = Params extends { readonly system?: infer System } ? System : string | undefined;

type Answer<Client extends AnthropicClient> = Extract<
  Awaited<ReturnType<Client["messages"]["create"]>>,
  { readonly type: "message" }
>;

/** A whole response of the client. */
export type MessageOf<Client extends AnthropicClient> = [Answer<Client>] extends [never]
  ? LooseMessage
  : Answer<Client>;

type ContainerOf<Client extends AnthropicClient> =
  MessageOf<Client> extends { readonly container: infer Container }
    ? NonNullable<Container>
    : { readonly id: string; readonly expires_at: string };

export interface AgentLoopOptions<Client extends AnthropicClient = AnthropicClient> {
  readonly client: Client;
  readonly model: string;
  readonly system?: SystemIn<CreateParams<Client>>;
  /** What the run begins with. A run resumes only with the same messages. */
  readonly messages: readonly MessageParamOf<Client>[];
  /** Default: the global registry. */
  readonly tools?: ToolSource | undefined;
  /** How many responses are asked for at most. Default 50. */
  readonly maxTurns?: number | undefined;
  /** Default: one on `toolwright.db`, opened and closed by this call. */
  readonly runtime?: Runtime | undefined;
  /** Default: a fresh run. */
  readonly runId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: AgentLoopEvent<Client>) => void) | undefined;
  /** Whether responses are streamed. Default `false`. */
  readonly stream?: boolean | undefined;
  /** What a request may hold, by estimate; beyond it the oldest messages are left out. Default 200,000. */
  readonly maxContextTokens?: number | undefined;
  /** `max_tokens` of each request. Default 8,192. */
  readonly maxTokens?: number | undefined;
  /** The limits of the run. `maxParallelTools` is 8 by default. */
  readonly limits?: Limits | undefined;
  /** Asked before each request: messages to put in. What it gives is on record, and is not asked for again. */
  readonly steer?:
    | (() =>
        | readonly MessageParamOf<Client>[]
        | undefined
        | PromiseLike<readonly MessageParamOf<Client>[] | undefined>)
    | undefined;
  /** Whatever else goes into each request: `thinking`, `tool_choice`, `temperature`; `tools` are added to ours. */
  readonly params?:
    | Partial<Omit<CreateParams<Client>, "model" | "messages" | "max_tokens" | "stream" | "system">>
    | undefined;
}

/** What made a loop stop. The last four leave the run as it is: the same run id goes on with it. */
export type LoopStop =
  | "end-turn"
  | "terminal-tool"
  | "max-tokens"
  | "context-window"
  | "refusal"
  | "approval"
  | "max-turns"
  | "api-error";

export interface AgentLoopResult<Client extends AnthropicClient = AnthropicClient> {
  readonly status: "complete" | "failed" | "waiting";
  /** In words. */
  readonly reason: string;
  readonly stop: LoopStop;
  /** Those that it began with and those that were added. Always such that they can be sent. */
  readonly messages: MessageParamOf<Client>[];
  /** The terminal tool that ended it. */
  readonly terminal?: { readonly name: string; readonly input: unknown; readonly output: unknown };
  readonly runId: string;
  /** Where the API ran code. A further turn of a chat is sent with it; for another run, pass `params: { container: id }`. */
  readonly container?: ContainerOf<Client> | undefined;
  /** What it waits for. */
  readonly approvals?: readonly Approval[];
  /** What the client threw. */
  readonly error?: unknown;
}

/** What a loop emits while it runs: its own events, and those of the runtime about its calls. */
export type AgentLoopEvent<Client extends AnthropicClient = AnthropicClient> =
  | Exclude<RuntimeEvent, { readonly type: LoopEventDetails["type"] }>
  | (EventEnvelope & LoopEventDetails<MessageOf<Client>, MessageParamOf<Client>>);

/** A tool as the Messages API takes it. */
export interface AnthropicToolParam {
  name: string;
  description: string;
  input_schema: {
    type: "object";
    properties?: Record<string, unknown>;
    required: string[];
    [field: string]: unknown;
  };
}

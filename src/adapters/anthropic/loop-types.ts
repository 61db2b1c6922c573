/**
 * The types of the loops. Message types are inferred from the client. The root exports these types and the SDK is an
 * optional peer, so this file must not import it.
 */
import type { Approval } from "../../invoke/approval.ts";
import type { EventEnvelope, LoopEventDetails, RuntimeEvent } from "../../invoke/events.ts";
import type { Limits } from "../../invoke/host.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { ToolSource } from "../../tool/from-tool.ts";

/** The part of the SDK's client that the loop uses. Clients for other clouds have it too. */
export interface AnthropicClient {
  readonly messages: { create(params: never, options?: never): unknown };
}

/** Used if the client's type is unknown. */
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

/** A message of a conversation, as the client accepts it. */
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
  /** The first messages of the run. A resume requires the same messages. */
  readonly messages: readonly MessageParamOf<Client>[];
  /** Default: the global registry. */
  readonly tools?: ToolSource | undefined;
  /** The maximum number of requests to the model. Default 50. */
  readonly maxTurns?: number | undefined;
  /** Default: a runtime on `toolwright.db`, opened and closed by this call. */
  readonly runtime?: Runtime | undefined;
  /** Default: a new run. */
  readonly runId?: string | undefined;
  /**
   * Shown in lists of runs. A worker that knows an agent of this name resumes the run; its function receives
   * `input: { messages }`, which is stored until the run has finished.
   */
  readonly name?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: AgentLoopEvent<Client>) => void) | undefined;
  /** Whether responses are streamed. Default `false`. */
  readonly stream?: boolean | undefined;
  /** The estimated size limit of a request; the oldest messages beyond it are dropped. Default 200,000. */
  readonly maxContextTokens?: number | undefined;
  /** `max_tokens` of each request. Default 8,192. */
  readonly maxTokens?: number | undefined;
  /** The limits of the run. `maxParallelTools` is 8 by default. */
  readonly limits?: Limits | undefined;
  /**
   * Called before each request. Returns messages to insert, which are stored: a resume does not call it for them
   * again.
   */
  readonly steer?:
    | (() =>
        | readonly MessageParamOf<Client>[]
        | undefined
        | PromiseLike<readonly MessageParamOf<Client>[] | undefined>)
    | undefined;
  /** Further parameters of each request: `thinking`, `tool_choice`, `temperature`; `tools` are added to ours. */
  readonly params?:
    | Partial<Omit<CreateParams<Client>, "model" | "messages" | "max_tokens" | "stream" | "system">>
    | undefined;
}

/** Why a loop stopped. After `approval`, `max-turns` and `api-error`, the same run id resumes it. */
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
  /** A description for people. */
  readonly reason: string;
  readonly stop: LoopStop;
  /** The initial messages and the messages that were added. The API accepts them as a conversation. */
  readonly messages: MessageParamOf<Client>[];
  /** The terminal tool that ended the loop. */
  readonly terminal?: { readonly name: string; readonly input: unknown; readonly output: unknown };
  readonly runId: string;
  /**
   * The container in which the API ran code. The next turn of a chat reuses it; in another run, pass `params: {
   * container: id }`.
   */
  readonly container?: ContainerOf<Client> | undefined;
  /** The pending approvals. */
  readonly approvals?: readonly Approval[];
  /** The error that the client threw. */
  readonly error?: unknown;
}

/** The events of a loop: its own, and the runtime's events about its calls. */
export type AgentLoopEvent<Client extends AnthropicClient = AnthropicClient> =
  | Exclude<RuntimeEvent, { readonly type: LoopEventDetails["type"] }>
  | (EventEnvelope & LoopEventDetails<MessageOf<Client>, MessageParamOf<Client>>);

/** A tool parameter of the Messages API. */
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

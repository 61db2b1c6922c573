/**
 * The port of telemetry. A span needs a place in the async context, so the places that do work open it here. What happened
 * in it comes from the events that every listener receives. Nothing here may throw or wait: telemetry only observes.
 */
import type { RunKind, RuntimeEvent } from "./events.ts";

/** Where in a run the work happens. */
export interface WorkPlace {
  readonly runId: string;
  readonly kind: RunKind;
  readonly nodeId?: string | undefined;
  readonly iteration?: number | undefined;
  readonly attempt?: number | undefined;
}

export interface AgentAbout {
  /** As the application named it. */
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  /** As the client library names it. */
  readonly provider?: string | undefined;
}

export interface ChatAbout extends Omit<AgentAbout, "name"> {
  readonly isStreamed: boolean;
  /** The response must be JSON. */
  readonly isJson: boolean;
  /** Settings of the request, if it has them. */
  readonly seed?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topK?: number | undefined;
  readonly topP?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
}

/** The work of a span. */
export type Work =
  /** An activation of a workflow or a program: from its start or resume until it ends or waits. */
  | { readonly type: "workflow"; readonly name: string; readonly place: WorkPlace }
  | ({ readonly type: "agent"; readonly place: WorkPlace } & AgentAbout)
  /** One response that is really requested, with the retries of the request. */
  | ({ readonly type: "chat"; readonly place: WorkPlace } & ChatAbout)
  /** A call waits for a decision from here on. */
  | { readonly type: "request"; readonly place: WorkPlace; readonly toolName: string }
  | { readonly type: "decision"; readonly place: WorkPlace; readonly toolName: string };

/** A call. Its span begins when it is entered: a replayed call has none. */
export interface CallWork {
  readonly place: WorkPlace;
  readonly toolName: string;
  readonly description: string;
  readonly toolCallId: string | undefined;
}

/** Why a span links to an earlier one. */
export type LinkReason = "resume" | "retry" | "decision" | "fork" | "request";

/** An earlier span, as stored. */
export interface EarlierSpan {
  readonly trace: string;
  readonly reason: LinkReason;
}

export interface WorkEnd {
  /** The code of the error, if the work failed. */
  readonly errorType?: string | undefined;
  readonly status?: string | undefined;
  /** What the model answered, for a chat. */
  readonly answer?: ChatAnswer | undefined;
  /** Called only if content was asked for. Everything in it is redacted. */
  readonly content?: (() => WorkContent) | undefined;
}

export interface ChatAnswer {
  readonly model?: string | undefined;
  readonly id?: string | undefined;
  readonly finishReason?: string | undefined;
  /** All tokens of the request, cached ones included. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  /** The part of the input tokens that was written to the cache. */
  readonly cacheWriteTokens?: number | undefined;
  /** A part of the output tokens. */
  readonly reasoningTokens?: number | undefined;
}

export interface WorkContent {
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly errorMessage?: string | undefined;
}

export interface OpenSpan {
  /** The span context for the store. `null` if there is none, for example without an SDK. */
  readonly trace: string | null;
  link(earlier: EarlierSpan): void;
  /** Runs `work` with this span as the current one. Spans that are opened inside are its children. */
  within<T>(work: () => T): T;
  end(end: WorkEnd): void;
}

export interface CallSpan {
  /** The span context for the row of the call: its own, once it is entered. */
  readonly trace: string | null;
  /** Begins the span, if it has not begun, and runs `work` in it. */
  enter<T>(earlier: EarlierSpan | undefined, work: () => T): T;
  /** The call has returned. */
  close(end: WorkEnd & CallEnd): void;
}

export interface CallEnd {
  /** Its intent is stored. Without it, and without an event about its end, the call has no row, and no span. */
  readonly hasBegun: boolean;
  /** The earlier span of a call that was not entered. */
  readonly earlier: EarlierSpan | undefined;
}

/** A request that an MCP server received. */
export interface McpRequest {
  readonly id: string | number;
  readonly carrier: Readonly<Record<string, unknown>> | undefined;
}

export interface Telemetry {
  /** Nothing receives reports now, for example without an SDK, so calls need not report. */
  isIdle(): boolean;
  /** Whether metrics are collected here. */
  isMeasured(): boolean;
  /** Every event of the runtime, with the span of the call that it is about. */
  notice(event: RuntimeEvent, span?: CallSpan): void;
  open(work: Work): OpenSpan;
  openCall(work: CallWork): CallSpan;
  /** The span context of the current span, in the fields that a request carries. */
  carrier(): Readonly<Record<string, string>>;
  /** Runs `work` for an MCP request, as part of the trace that the request carries. */
  continueFrom<T>(request: McpRequest, work: () => T): T;
  /** The current call is a request to an MCP server. @param statusCode if the server answered with an error */
  noteMcpCall(statusCode?: number): void;
  /** Runs `work` outside of every span: what begins in it begins a trace. */
  apart<T>(work: () => T): T;
  /** A transaction was committed. */
  committed(ms: number): void;
  close(): void;
}

/** What telemetry asks the runtime for. */
export interface TelemetrySource {
  warnOnce(topic: string, message: string): void;
  /** `undefined` while the store is not open. Called when metrics are collected. */
  waiting(): Promise<Waiting | undefined>;
}

/** What waits in the store. */
export interface Waiting {
  /** Approval requests without a decision. */
  readonly approvals: WaitingCount;
  /** Enqueued runs that no worker has taken since they were due. */
  readonly queue: WaitingCount;
  /** Decisions of processes without telemetry. Each is returned once, to one process. */
  readonly decided: readonly { readonly waitedMs: number; readonly approved: boolean }[];
}

export interface WaitingCount {
  readonly count: number;
  /** The age of the oldest one; 0 if there is none. */
  readonly oldestMs: number;
}

/** The option of a runtime: what `openTelemetry()` returns. */
export interface TelemetryOption {
  /** Not for users: a runtime calls it once. */
  connect(source: TelemetrySource): Telemetry;
}

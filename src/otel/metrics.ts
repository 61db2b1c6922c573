/** The metrics. Their attributes have few distinct values: names and error codes, never run ids. */
import { type Attributes, type Meter, type MeterProvider, metrics as api } from "@opentelemetry/api";
import { OWN_COPY } from "../definition/package-copy.ts";
import type { EventEnvelope, TakeoverEventDetails } from "../invoke/events.ts";
import type { TelemetrySource, Work, WorkEnd } from "../invoke/telemetry.ts";
import { given, toErrorType } from "./attributes.ts";
import { currentFrame } from "./frames.ts";
import { createInstruments, type Instruments, recordWait } from "./instruments.ts";
import { providerName } from "./provider-name.ts";
import { hasGlobalMeter } from "./sdk-presence.ts";
import type { Watch } from "./watch.ts";

/** How soon metrics begin if the SDK is registered later. */
const LOOK_MS = 1_000;

export class Metrics {
  readonly #given: MeterProvider | undefined;
  readonly #source: TelemetrySource;
  readonly #watch: Watch;
  #provider: MeterProvider | undefined;
  #instruments: Instruments | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param provider default: the global one, whenever it is registered */
  constructor(provider: MeterProvider | undefined, source: TelemetrySource, watch: Watch) {
    this.#given = provider;
    this.#source = source;
    this.#watch = watch;
    this.#connect();
  }

  /** The SDK reads gauges even from a runtime that does nothing, so they must not wait for the next record. */
  #connect(): void {
    this.#record(() => undefined);
    if (this.#given !== undefined || this.#watch.try(hasGlobalMeter, true)) return clearInterval(this.#timer);
    this.#timer ??= setInterval(() => this.#connect(), LOOK_MS).unref();
  }

  ended(work: Work, { errorType, answer }: WorkEnd, seconds: number): void {
    const error = { "error.type": toErrorType(errorType) };
    if (work.type === "workflow")
      return this.#record(({ workflowDuration }) =>
        workflowDuration.record(seconds, given({ "gen_ai.workflow.name": work.name, ...error })),
      );
    if (work.type === "agent") {
      const attributes = { "gen_ai.agent.name": work.name, "gen_ai.request.model": work.model, ...error };
      return this.#record(({ agentDuration }) => agentDuration.record(seconds, given(attributes)));
    }
    if (work.type !== "chat") return undefined;
    const about: Attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": providerName(work.provider),
      "gen_ai.request.model": work.model,
      "gen_ai.response.model": answer?.model,
    };
    return this.#record(({ chatDuration, tokens }) => {
      chatDuration.record(seconds, given({ ...about, ...error }));
      const { inputTokens, outputTokens } = answer ?? {};
      if (inputTokens !== undefined)
        tokens.record(inputTokens, given({ ...about, "gen_ai.token.type": "input" }));
      if (outputTokens !== undefined)
        tokens.record(outputTokens, given({ ...about, "gen_ai.token.type": "output" }));
    });
  }

  toolRan(toolName: string, errorType: string | undefined, seconds: number): void {
    this.#record(({ toolDuration }) =>
      toolDuration.record(
        seconds,
        given({
          "gen_ai.tool.name": toolName,
          "gen_ai.tool.type": "function",
          "gen_ai.agent.name": currentFrame()?.agent,
          "error.type": toErrorType(errorType),
        }),
      ),
    );
  }

  /** @param source where the result came from */
  replayed(toolName: string, source: "log" | "cache"): void {
    const attributes = { "gen_ai.tool.name": toolName, "toolwright.replay.source": source };
    this.#record(({ replays }) => replays.add(1, attributes));
  }

  becameUnknown(toolName: string): void {
    this.#record(({ unknown }) => unknown.add(1, { "gen_ai.tool.name": toolName }));
  }

  approvalWaited(ms: number, approved: boolean): void {
    this.#record(({ approvalWait }) => recordWait(approvalWait, ms, approved));
  }

  queued(ms: number, kind: string): void {
    this.#record(({ queueLag }) => queueLag.record(ms / 1_000, { "toolwright.run.kind": kind }));
  }

  takenOver({ kind, name, inARow }: EventEnvelope & TakeoverEventDetails): void {
    const attributes = given({
      [kind === "agent" ? "gen_ai.agent.name" : "gen_ai.workflow.name"]: name,
      "toolwright.run.kind": kind,
      "toolwright.takeover.repeated": inARow > 1,
    });
    this.#record(({ takeovers }) => takeovers.add(1, attributes));
  }

  committed(ms: number): void {
    this.#record(({ commitDuration }) => commitDuration.record(ms / 1_000));
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#watch.try(() => this.#instruments?.stop(), undefined);
  }

  #record(write: (instruments: Instruments) => void): void {
    this.#watch.try(() => {
      const provider = this.#given ?? api.getMeterProvider();
      // The global provider may be registered later than the runtime was created.
      if (this.#instruments === undefined || provider !== this.#provider) {
        this.#instruments?.stop();
        this.#provider = provider;
        this.#instruments = this.#create(provider.getMeter("toolwright", OWN_COPY.version));
      }
      write(this.#instruments);
    }, undefined);
  }

  #create(meter: Meter): Instruments {
    return createInstruments(meter, async () => (this.#isClosed ? undefined : this.#source.waiting()));
  }
}

/** Requests a response from the model, with retries while it is overloaded. An abort ends the request immediately. */
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import { assertNotAborted } from "../loop/call-results.ts";
import { LONGEST_WAIT_MS, retryAfterMs } from "../invoke/retry-after.ts";
import { untilAborted } from "../util/abort.ts";
import type { Scope } from "../invoke/scope.ts";
import { traceChat } from "../invoke/trace-work.ts";
import type { Clock } from "../util/clock.ts";
import type { AgentModel, AskOptions, ModelAnswer } from "../model/agent-model.ts";

const MAX_RETRIES = 2;
const BACKOFF_MS = 1_000;

/**
 * @param scope in which the agent runs
 * @param onRetry called before the request is repeated: nothing of the failed response counts
 * @throws TOOL_ABORTED, TOOL_MODEL_FAILED
 */
export function askModel(
  model: AgentModel,
  options: AskOptions,
  scope: Scope,
  onRetry: () => void = () => undefined,
): Promise<ModelAnswer> {
  const { id, provider } = model;
  const about = {
    model: id,
    provider,
    isStreamed: options.onPart !== undefined,
    isJson: options.outputSchema !== undefined,
  };
  return traceChat(
    scope,
    about,
    () => ask(model, options, scope.host.clock, onRetry),
    ({ usage, finish }) => ({
      ...usage,
      finishReason: FINISH_REASONS[finish],
    }),
  );
}

const FINISH_REASONS = { done: "stop", cut: "length", refused: "content_filter" } as const;

async function ask(
  model: AgentModel,
  options: AskOptions,
  clock: Clock,
  onRetry: () => void,
): Promise<ModelAnswer> {
  const { signal } = options;
  for (let retries = 0; ; retries += 1) {
    assertNotAborted(signal, "agent");
    try {
      const response = model.ask(options);
      await untilAborted(response, signal);
      assertNotAborted(signal, "agent");
      return await response;
    } catch (error) {
      assertNotAborted(signal, "agent");
      if (retries >= MAX_RETRIES || !isRetryable(error)) throw failed(error);
      const waitMs = retryAfterMs(error, clock.now()) ?? BACKOFF_MS * 2 ** retries;
      if (waitMs > LONGEST_WAIT_MS) throw failed(error);
      onRetry();
      await sleep(clock, waitMs, signal);
    }
  }
}

async function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    assertNotAborted(signal, "agent");
    throw error;
  }
}

/** By the fields of errors from the AI SDK and most clients. */
function isRetryable(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { isRetryable: declared, statusCode, status } = error as Record<string, unknown>;
  if (typeof declared === "boolean") return declared;
  const code = typeof statusCode === "number" ? statusCode : status;
  return typeof code === "number" && (code === 408 || code === 409 || code === 429 || code >= 500);
}

function failed(cause: unknown): ToolwrightError {
  return new ToolwrightError("TOOL_MODEL_FAILED", `The model failed: ${messageOf(cause)}`, { cause });
}

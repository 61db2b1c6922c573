/**
 * Stored responses of a model, by their position in a scope. A response is committed before its calls run, and replayed when
 * the loop resumes. When a request differs from the stored one, the loop calls the model from there on.
 */
import { ToolwrightError } from "../errors.ts";
import { type RecordedResponse, readResponse, saveResponse } from "../store/tables/responses.ts";
import type { Transaction } from "../store/store.ts";
import { decode, encode } from "../util/encode.ts";
import { digest } from "../util/hash.ts";
import type { Scope } from "../invoke/scope.ts";

export interface ResponseSlot {
  /** The stored response to an equal request. */
  readonly recorded: { readonly value: unknown } | undefined;
  /** The stored request at this position differs: no stored response is used from here on. */
  readonly hasDiverged: boolean;
  /**
   * Commits the value and returns what a replay would return. A later call replaces it.
   * @param also statements for the same transaction
   * @throws TOOL_RUN_FENCED
   */
  save(value: unknown, also?: () => Transaction<void>): Promise<unknown>;
}

export interface RecordedResponses {
  /** Takes the next position. */
  next(requestHash: string): Promise<ResponseSlot>;
}

/**
 * @param onDiverged called once, with the position from which stored responses are no longer used
 * @param first the first position, where several loops share a scope
 */
export function recordedResponsesOf(
  scope: Scope,
  onDiverged: (position: number) => void,
  first = 0,
): RecordedResponses {
  let next = first;
  let isLive = false;
  return {
    async next(requestHash) {
      const position = next;
      next += 1;
      await scope.ready;
      assertRecording(scope);
      const found = isLive ? undefined : await readAt(scope, position);
      const isSame = found?.requestHash === requestHash;
      if (found !== undefined && !isSame) {
        isLive = true;
        onDiverged(position - first);
      }
      const slot = slotAt(scope, position, requestHash, isSame ? found : undefined);
      return { ...slot, hasDiverged: found !== undefined && !isSame };
    },
  };
}

/**
 * For loops that run side by side in one scope, in no fixed order: a response is found by its request, and by how often that
 * request was made before. A request without a stored response goes to the model.
 */
export function recordedResponsesByRequest(scope: Scope): RecordedResponses {
  return {
    async next(requestHash) {
      const count = scope.countRequest(requestHash);
      await scope.ready;
      assertRecording(scope);
      const position = positionOfRequest(requestHash, count);
      const found = await readAt(scope, position);
      const isSame = found?.requestHash === requestHash;
      return { ...slotAt(scope, position, requestHash, isSame ? found : undefined), hasDiverged: false };
    },
  };
}

/** Far behind the positions of loops that count theirs. */
function positionOfRequest(requestHash: string, count: number): number {
  return 2 ** 52 + Buffer.from(digest([requestHash, count]), "base64url").readUIntBE(0, 6);
}

function readAt(scope: Scope, position: number): Promise<RecordedResponse | undefined> {
  const location = { scopeId: scope.id, attempt: scope.attempt, position };
  return scope.host.store.read(() => readResponse(location));
}

function slotAt(
  scope: Scope,
  position: number,
  requestHash: string,
  recorded: RecordedResponse | undefined,
): Omit<ResponseSlot, "hasDiverged"> {
  const location = { scopeId: scope.id, attempt: scope.attempt, position };
  return {
    recorded: recorded === undefined ? undefined : { value: decode(recorded.responseJson) },
    async save(value, also) {
      const responseJson = encode(value);
      const changes = await commit(scope, function* () {
        const saved = yield* saveResponse(location, { requestHash, responseJson }, scope.writer);
        if (saved > 0 && also !== undefined) yield* also();
        return saved;
      });
      if (changes === 0) throw fencedScope(scope);
      return decode(responseJson);
    },
  };
}

/** A loop may swallow the error, so the scope fails as well: its run must not continue without the response. */
async function commit<T>(scope: Scope, write: () => Transaction<T>): Promise<T> {
  try {
    return await scope.host.store.transaction(write, "normal");
  } catch (error) {
    if (ToolwrightError.is(error)) scope.fail(error);
    throw error;
  }
}

/** After a failed write, another request to the model could have no effect. */
function assertRecording({ root, parent }: Scope): void {
  const failure = root.failure ?? parent?.failure;
  if (failure !== undefined) throw failure;
}

export function fencedScope(scope: Scope): ToolwrightError {
  const { runId, nodeId } = scope.identity;
  return new ToolwrightError(
    "TOOL_RUN_FENCED",
    `Another process has taken over task "${nodeId}" of run "${runId}".`,
  );
}

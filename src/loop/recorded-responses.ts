/**
 * What a model said, by its place in a scope: committed before anything of it happens, and handed back in its place when
 * the loop is driven again. When the loop asks something else than what is on record, it goes on live from there.
 */
import { ToolwrightError } from "../errors.ts";
import { type RecordedResponse, readResponse, saveResponse } from "../store/tables/responses.ts";
import type { Transaction } from "../store/store.ts";
import { decode, encode } from "../util/encode.ts";
import { digest } from "../util/hash.ts";
import type { Scope } from "../invoke/scope.ts";

export interface ResponseSlot {
  /** What stands on record for this very request. */
  readonly recorded: { readonly value: unknown } | undefined;
  /** Something else was asked here before: the record is not used from here on. */
  readonly hasDiverged: boolean;
  /**
   * Commits, and returns what a replay would give. May be called again with more.
   * @param also what is written in the same transaction
   * @throws TOOL_RUN_FENCED
   */
  save(value: unknown, also?: () => Transaction<void>): Promise<unknown>;
}

export interface RecordedResponses {
  /** Takes the next place. */
  next(requestHash: string): Promise<ResponseSlot>;
}

/**
 * @param onDiverged told once, with the place from which the record is no longer used
 * @param first the first place, where several loops share a scope
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
 * For several loops side by side in one scope, whose order nobody knows: a response is found again by what was asked, and by
 * how often that was asked before. Who asks something else finds nothing, and is live.
 */
export function recordedResponsesByRequest(scope: Scope): RecordedResponses {
  return {
    async next(requestHash) {
      const count = scope.countRequest(requestHash);
      await scope.ready;
      assertRecording(scope);
      const position = placeOfRequest(requestHash, count);
      const found = await readAt(scope, position);
      const isSame = found?.requestHash === requestHash;
      return { ...slotAt(scope, position, requestHash, isSame ? found : undefined), hasDiverged: false };
    },
  };
}

/** Far behind the places of loops that count theirs. */
function placeOfRequest(requestHash: string, count: number): number {
  return 2 ** 52 + Buffer.from(digest([requestHash, count]), "base64url").readUIntBE(0, 6);
}

function readAt(scope: Scope, position: number): Promise<RecordedResponse | undefined> {
  const place = { scopeId: scope.id, attempt: scope.attempt, position };
  return scope.host.store.read(() => readResponse(place));
}

function slotAt(
  scope: Scope,
  position: number,
  requestHash: string,
  recorded: RecordedResponse | undefined,
): Omit<ResponseSlot, "hasDiverged"> {
  const place = { scopeId: scope.id, attempt: scope.attempt, position };
  return {
    recorded: recorded === undefined ? undefined : { value: decode(recorded.responseJson) },
    async save(value, also) {
      const responseJson = encode(value);
      const changes = await commit(scope, function* () {
        const saved = yield* saveResponse(place, { requestHash, responseJson }, scope.writer);
        if (saved > 0 && also !== undefined) yield* also();
        return saved;
      });
      if (changes === 0) throw lost(scope);
      return decode(responseJson);
    },
  };
}

/** A loop may swallow the failure; the run that it belongs to ends with it all the same. */
async function commit<T>(scope: Scope, write: () => Transaction<T>): Promise<T> {
  try {
    return await scope.host.store.transaction(write, "normal");
  } catch (error) {
    if (ToolwrightError.is(error)) scope.fail(error);
    throw error;
  }
}

/** The model is not asked for what could not take effect any more. */
function assertRecording({ root, parent }: Scope): void {
  const failure = root.failure ?? parent?.failure;
  if (failure !== undefined) throw failure;
}

export function lost(scope: Scope): ToolwrightError {
  const { runId, nodeId } = scope.identity;
  return new ToolwrightError(
    "TOOL_RUN_FENCED",
    `Another process has taken over task "${nodeId}" of run "${runId}".`,
  );
}

/**
 * What a model said, by its place in a scope: committed before anything of it happens, and handed back in its place when
 * the loop is driven again. When the loop asks something else than what is on record, it goes on live from there.
 */
import { ToolwrightError } from "../errors.ts";
import { readResponse, saveResponse } from "../store/responses.ts";
import type { Transaction } from "../store/store.ts";
import { decode, encode } from "../util/encode.ts";
import type { Scope } from "./scope.ts";

export interface ResponseSlot {
  /** What stands on record for this very request. */
  readonly recorded: { readonly value: unknown } | undefined;
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
      const { store } = scope.host;
      const place = { scopeId: scope.id, attempt: scope.attempt, position };
      const found = isLive ? undefined : await store.read(() => readResponse(place));
      const isSame = found?.requestHash === requestHash;
      if (found !== undefined && !isSame) {
        isLive = true;
        onDiverged(position - first);
      }
      return {
        recorded: isSame ? { value: decode(found.responseJson) } : undefined,
        async save(value, also) {
          const responseJson = encode(value);
          const changes = await store.transaction(function* () {
            const saved = yield* saveResponse(place, { requestHash, responseJson }, scope.writer);
            if (saved > 0 && also !== undefined) yield* also();
            return saved;
          }, "normal");
          if (changes === 0) throw lost(scope);
          return decode(responseJson);
        },
      };
    },
  };
}

export function lost(scope: Scope): ToolwrightError {
  const { runId, nodeId } = scope.identity;
  return new ToolwrightError(
    "TOOL_RUN_FENCED",
    `Another process has taken over task "${nodeId}" of run "${runId}".`,
  );
}

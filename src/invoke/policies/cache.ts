/**
 * Equal calls of a pure tool share one answer: those that are on record, and those that are running now. Everybody
 * gets a copy. Hits touch no budget and no breaker.
 */
import { ToolwrightError } from "../../errors.ts";
import { type CacheKey, readCache, writeCache } from "../../store/cache.ts";
import { canonicalText } from "../../util/canonical.ts";
import { decode } from "../../util/encode.ts";
import { sha256 } from "../../util/hash.ts";
import { argumentsHash, type Call } from "../call.ts";
import type { Result } from "../outcome.ts";
import { storedOutput } from "../record/record-end.ts";
import { type Policy, refuse } from "../policy.ts";

export const cache: Policy = (call, next) =>
  call.spec.cache === undefined || call.mode === "ask" ? next() : cached(call, next);

async function cached(call: Call, next: () => Promise<Result>): Promise<Result> {
  let key: CacheKey;
  try {
    key = cacheKeyOf(call);
  } catch (error) {
    return refuse(keyError(call, error));
  }
  const name = JSON.stringify(key);
  for (;;) {
    const stored = await call.host.store.read(() => readCache(key, call.host.clock.now()));
    if (stored !== undefined) return { kind: "success", output: decode(stored), fromCache: true };
    const running = call.host.shared.get(name);
    if (running === undefined) break;
    // The one that runs may fail or be cut off; then the record has nothing, and the next one tries.
    await running;
  }
  return runShared(call, key, name, next);
}

async function runShared(
  call: Call,
  key: CacheKey,
  name: string,
  next: () => Promise<Result>,
): Promise<Result> {
  const { shared, clock } = call.host;
  shared.set(name, call.ended.promise);
  call.cleanups.push(() => shared.delete(name));
  call.settlers.set("cache", function* (result) {
    if (result.kind !== "success" || call.outputJson === undefined) return;
    const ttlMs = call.spec.cache?.ttlMs;
    yield* writeCache(key, storedOutput(call), ttlMs === undefined ? null : clock.now() + ttlMs);
  });
  return next();
}

function cacheKeyOf(call: Call): CacheKey {
  const { keyFn, scope } = call.spec.cache ?? {};
  const basis = keyFn === undefined ? argumentsHash(call) : `custom ${canonicalText(keyFn(call.input))}`;
  return {
    runId: scope === "global" ? "" : call.scope.identity.runId,
    toolName: call.spec.name,
    cacheKey: sha256(basis),
  };
}

function keyError(call: Call, cause: unknown): ToolwrightError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `Tool "${call.spec.name}": cache.keyFn failed for these arguments: ${reason}.`,
    { details: { tool: call.spec.name }, effect: "none", cause },
  );
}

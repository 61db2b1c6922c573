/**
 * Equal calls of a pure tool share one answer: those that are on record, and those that are running now. Everybody
 * gets a copy. Hits touch no budget and no breaker.
 */
import { ToolwrightError } from "../../errors.ts";
import { type CacheKey, readCache, writeCache } from "../../store/cache.ts";
import { KEY_VERSION } from "../../definition/call-key.ts";
import { canonicalText } from "../../util/canonical.ts";
import { momentAfter } from "../../util/clock.ts";
import { decode } from "../../util/encode.ts";
import { untilAborted } from "../../util/abort.ts";
import { sha256 } from "../../util/hash.ts";
import { type Call, executedHash } from "../call.ts";
import type { Result } from "../outcome.ts";
import { storedOutput } from "../record/record-end.ts";
import { aborted, type Policy, refuse } from "../policy.ts";

export const cache: Policy = (call, next) =>
  call.spec.cache === undefined || call.mode === "ask" ? next() : cached(call, next);

async function cached(call: Call, next: () => Promise<Result>): Promise<Result> {
  let key: CacheKey;
  try {
    key = await cacheKeyOf(call);
  } catch (error) {
    return refuse(keyError(call, error));
  }
  if (!(await lead(call, JSON.stringify(key)))) return aborted(call.signal);
  const stored = await call.host.store.read(() => readCache(key, call.host.clock.now()));
  if (stored !== undefined) return { kind: "success", output: decode(stored), fromCache: true };
  call.settlers.set("cache", function* (result) {
    if (result.kind !== "success" || call.outputJson === undefined) return;
    const ttlMs = call.spec.cache?.ttlMs;
    const expiresAtMs = ttlMs === undefined ? null : momentAfter(call.host.clock.now(), ttlMs);
    yield* writeCache(key, storedOutput(call), expiresAtMs);
  });
  return next();
}

/**
 * One of several equal calls goes first; the others wait for it and look at the record then. It may fail or be cut off:
 * then the record has nothing, and the next one goes. Answers `false` to one who was aborted while it waited.
 */
async function lead(call: Call, name: string): Promise<boolean> {
  const { shared } = call.host;
  const { promise } = call.ended;
  // A call that asks for itself would wait for itself.
  if (isInside(call, shared.get(name))) return true;
  for (let first = shared.get(name); first !== undefined && first !== promise; first = shared.get(name)) {
    await untilAborted(first, call.signal);
    if (call.signal?.aborted === true) return false;
  }
  shared.set(name, promise);
  call.cleanups.push(() => {
    if (shared.get(name) === promise) shared.delete(name);
  });
  return true;
}

function isInside(call: Call, leader: Promise<unknown> | undefined): boolean {
  for (let outer = call.scope.parent; outer !== undefined; outer = outer.scope.parent) {
    if (outer.ended.promise === leader) return true;
  }
  return false;
}

async function cacheKeyOf(call: Call): Promise<CacheKey> {
  const { keyFn, scope } = call.spec.cache ?? {};
  // Always the latest version: in version 1 two different calls may share a text, and an answer.
  const basis =
    keyFn === undefined
      ? executedHash(call, KEY_VERSION)
      : `custom ${canonicalText(await keyFn(call.input))}`;
  return {
    runId: scope === "global" ? "" : call.scope.budgetId,
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

/**
 * Equal calls of a pure tool share one result, stored or still running. Each caller gets a copy. Hits use no limit and do not
 * affect the breaker.
 */
import { ToolwrightError } from "../../errors.ts";
import { type CacheKey, readCache, writeCache } from "../../store/tables/cache.ts";
import { KEY_VERSION } from "../../definition/call-key.ts";
import { canonicalText } from "../../util/canonical.ts";
import { momentAfter, SKEW_MS } from "../../util/clock.ts";
import { decode } from "../../util/encode.ts";
import { untilAborted } from "../../util/abort.ts";
import { sha256 } from "../../util/hash.ts";
import { withTimeLimit } from "../author-functions.ts";
import { addSettler, type Call } from "../call.ts";
import { executedHash } from "../call-identity.ts";
import type { Wait } from "../wait-graph.ts";
import { messageOf } from "../error-record.ts";
import type { Leader } from "../host.ts";
import type { Result } from "../outcome.ts";
import { storedOutput } from "../journal/record-outcome.ts";
import { aborted, type Policy, refuse, type Next } from "../policy.ts";

export const cache: Policy = (call, next) =>
  call.spec.cache === undefined || call.mode === "check" ? next(call) : cached(call, next);

async function cached(call: Call, next: Next): Promise<Result> {
  let key: CacheKey;
  try {
    key = call.cacheKey ??= await cacheKeyOf(call);
  } catch (error) {
    return call.signal?.aborted === true ? aborted(call) : refuse(keyError(call, error));
  }
  const release = await takeLead(call, JSON.stringify(key));
  if (call.signal?.aborted === true) return aborted(call);
  try {
    const now = call.host.clock.now();
    const latest = momentAfter(now, (call.spec.cache?.ttlMs ?? Infinity) + SKEW_MS);
    const stored = await call.host.store.read(() => readCache(key, now, latest));
    if (stored !== undefined) return { kind: "success", output: decode(stored), fromCache: true };
    addSettler(call, "cache", function* (result) {
      if (result.kind !== "success" || call.outputJson === undefined) return;
      const ttlMs = call.spec.cache?.ttlMs;
      const expiresAtMs = ttlMs === undefined ? null : momentAfter(call.host.clock.now(), ttlMs);
      yield* writeCache(key, storedOutput(call), expiresAtMs);
    });
    return await next(call);
  } catch (error) {
    // The call must wait for capacity, or enters the pipeline again: others must not wait for it meanwhile.
    release();
    throw error;
  }
}

/**
 * One of several equal calls leads; the others wait for it and then read the cache. If the leader fails or is interrupted,
 * nothing is stored, and the next call leads. Only a call that can begin leads, so that no call waits for a waiting one.
 * Returns a function that gives up the lead.
 */
async function takeLead(call: Call, name: string): Promise<() => void> {
  const { leaders } = call.host;
  for (let lead = leaders.get(name); lead !== undefined; lead = leaders.get(name)) {
    // Waiting would be a deadlock: this call runs by itself.
    if (!(await follow(call, lead))) return () => undefined;
  }
  const over = Promise.withResolvers<void>();
  const mine = { call, over: over.promise };
  leaders.set(name, mine);
  const release = (): void => {
    if (leaders.get(name) === mine) leaders.delete(name);
    over.resolve();
  };
  call.cleanups.push(release);
  return release;
}

/** Waits for the leader. Returns `false` if the wait gave way or the call was aborted. */
async function follow(call: Call, lead: Leader): Promise<boolean> {
  const { waitGraph } = call.host;
  const alone = Promise.withResolvers<void>();
  let isAlone = false;
  const wait: Wait = {
    kind: "result",
    waiter: call,
    holders: () => [lead.call],
    giveWay: () => {
      isAlone = true;
      alone.resolve();
    },
  };
  waitGraph.wait(wait);
  await untilAborted(Promise.race([lead.over, alone.promise]), call.signal);
  waitGraph.end(wait);
  return !isAlone && call.signal?.aborted !== true;
}

async function cacheKeyOf(call: Call): Promise<CacheKey> {
  const { keyFn, scope } = call.spec.cache ?? {};
  // Always the latest version: in version 1 two different calls may share a text, and so a result.
  const basis =
    keyFn === undefined
      ? executedHash(call, KEY_VERSION)
      : `custom ${canonicalText(await withTimeLimit(call, keyFn(call.input)))}`;
  return {
    runId: scope === "global" ? "" : call.scope.budgetId,
    toolName: call.spec.name,
    cacheKey: sha256(basis),
  };
}

function keyError(call: Call, cause: unknown): ToolwrightError {
  const reason = messageOf(cause);
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `Tool "${call.spec.name}": cache.keyFn failed for these arguments: ${reason}.`,
    { details: { tool: call.spec.name }, effect: "none", cause },
  );
}

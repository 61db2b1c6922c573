/**
 * Equal calls of a pure tool share one answer: those that are on record, and those that are running now. Everybody
 * gets a copy. Hits touch no budget and no breaker.
 */
import { ToolwrightError } from "../../errors.ts";
import { type CacheKey, readCache, writeCache } from "../../store/tables/cache.ts";
import { KEY_VERSION } from "../../definition/call-key.ts";
import { canonicalText } from "../../util/canonical.ts";
import { momentAfter, SKEW_MS } from "../../util/clock.ts";
import { decode } from "../../util/encode.ts";
import { untilAborted } from "../../util/abort.ts";
import { sha256 } from "../../util/hash.ts";
import { addSettler, type Call, executedHash } from "../call.ts";
import type { Wait } from "../calls-at-work.ts";
import { messageOf } from "../error-record.ts";
import type { Lead } from "../host.ts";
import type { Result } from "../outcome.ts";
import { storedOutput } from "../journal/record-end.ts";
import { aborted, type Policy, refuse } from "../policy.ts";

export const cache: Policy = (call, next) =>
  call.spec.cache === undefined || call.mode === "ask" ? next() : cached(call, next);

async function cached(call: Call, next: () => Promise<Result>): Promise<Result> {
  let key: CacheKey;
  try {
    key = call.cacheKey ??= await cacheKeyOf(call);
  } catch (error) {
    return refuse(keyError(call, error));
  }
  const release = await takeLead(call, JSON.stringify(key));
  if (call.signal?.aborted === true) return aborted(call.signal);
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
    return await next();
  } catch (error) {
    // It has to wait for a place or a budget, or is decided again: others must not wait for it meanwhile.
    release();
    throw error;
  }
}

/**
 * One of several equal calls goes first; the others wait for it and then look at what is stored. It may fail or be cut off:
 * then nothing is stored, and the next one goes. Only a call that can begin leads, so that none waits for one that waits.
 * Returns how to let the next one go.
 */
async function takeLead(call: Call, name: string): Promise<() => void> {
  const { leads } = call.host;
  for (let lead = leads.get(name); lead !== undefined; lead = leads.get(name)) {
    // The two wait for each other, or one is inside the other: this one runs by itself.
    if (!(await follow(call, lead))) return () => undefined;
  }
  const over = Promise.withResolvers<void>();
  const mine = { call, over: over.promise };
  leads.set(name, mine);
  const release = (): void => {
    if (leads.get(name) === mine) leads.delete(name);
    over.resolve();
  };
  call.cleanups.push(release);
  return release;
}

/** Waits for the one that leads. Answers `false` where it must not, or was aborted. */
async function follow(call: Call, lead: Lead): Promise<boolean> {
  const { atWork } = call.host;
  const alone = Promise.withResolvers<void>();
  let isAlone = false;
  const wait: Wait = {
    kind: "answer",
    waiter: call,
    holders: () => [lead.call],
    giveWay: () => {
      isAlone = true;
      alone.resolve();
    },
  };
  atWork.wait(wait);
  await untilAborted(Promise.race([lead.over, alone.promise]), call.signal);
  atWork.end(wait);
  return !isAlone && call.signal?.aborted !== true;
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
  const reason = messageOf(cause);
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `Tool "${call.spec.name}": cache.keyFn failed for these arguments: ${reason}.`,
    { details: { tool: call.spec.name }, effect: "none", cause },
  );
}

/**
 * Limits of a tool across processes: `concurrency` and `rate`. The check and the place are part of the transaction that begins
 * the call, as its last guard: a call that another policy refuses never waits here. Replayed, cached and pending calls do not
 * get so far, so they take no place.
 */
import { ToolwrightError } from "../../errors.ts";
import type { Transaction } from "../../store/store.ts";
import {
  countStart,
  freePlace,
  lockLimit,
  readPlaces,
  readRateWait,
  takePlace,
} from "../../store/tables/tool-limits.ts";
import { sha256 } from "../../util/hash.ts";
import { addGuard, addSettler, type Call, callsAround, keysAround } from "../call.ts";
import { messageOf } from "../error-record.ts";
import { MustWait, type Policy, refuse } from "../policy.ts";

const MOST_ROOM_MS = 50;

export const toolLimits: Policy = (call, next) => {
  const { concurrency, rate } = call.spec;
  if ((concurrency === undefined && rate === undefined) || call.mode === "check") return next(call);
  try {
    call.placeName ??= concurrency && nameOf(call, "concurrency", concurrency.key);
    call.rateName ??= rate && nameOf(call, "rate", rate.key);
  } catch (cause) {
    return Promise.resolve(refuse(keyError(call, cause)));
  }
  // A call that waited gets here again.
  if (call.guards?.has("tool-limits") !== true) limited(call);
  return next(call);
};

function limited(call: Call): void {
  const { placeName, host } = call;
  addGuard(call, "tool-limits", () => pass(call));
  if (placeName === undefined || sharesPlace(call, placeName)) return;
  addSettler(call, "tool-limits", function* () {
    yield* freePlace(placeName, call.key);
  });
  call.cleanups.push(() => host.places.freed(placeName));
}

/** The key may be a secret: the store holds a digest of it. */
function nameOf(
  call: Call,
  option: "concurrency" | "rate",
  key: ((args: unknown) => string) | undefined,
): string {
  const whole = `${option}:${call.spec.name}`;
  if (key === undefined) return whole;
  const value: unknown = key(call.input);
  if (typeof value !== "string" || value === "")
    throw new Error(`${option}.key must return a non-empty string`);
  return `${whole}:${sha256(`${call.host.store.secret} ${value}`)}`;
}

/** A call inside a call that holds a place under the same limit uses that one: waiting for it would be a deadlock. */
function sharesPlace(call: Call, name: string): boolean {
  for (const outer of callsAround(call)) if (outer.placeName === name) return true;
  return false;
}

function* pass(call: Call): Transaction<void> {
  const { placeName, rateName } = call;
  const { concurrency, rate } = call.spec;
  if (placeName !== undefined && concurrency !== undefined && !sharesPlace(call, placeName))
    yield* passConcurrency(call, placeName, concurrency.max);
  if (rateName !== undefined && rate !== undefined)
    yield* passRate(call, rateName, rate.max, stretched(rate.perMs));
}

/** A call reaches its service a little after it has begun, one sooner than the other: the period has some room for that. */
function stretched(perMs: number): number {
  return Math.ceil(perMs + Math.min(perMs / 20, MOST_ROOM_MS));
}

function* passConcurrency(call: Call, name: string, max: number): Transaction<void> {
  const { host, key } = call;
  if (!call.mustShare) {
    if (host.places.isBehind(call, name)) throw new MustWait({ what: "place", name, max, holders: [] });
    yield* lockLimit(name);
    const { holders, ahead } = yield* readPlaces(name, host.ownerId);
    const own = keysAround(call);
    const others = holders.filter(({ callKey }) => !own.has(callKey));
    if (others.length + ahead >= max) throw new MustWait({ what: "place", name, max, holders: others });
  }
  yield* takePlace(name, { callKey: key, ownerId: host.ownerId });
}

function* passRate(call: Call, name: string, max: number, perMs: number): Transaction<void> {
  if (call.host.places.isBehind(call, name)) throw new MustWait({ what: "rate", name, waitMs: 0 });
  yield* lockLimit(name);
  const waitMs = yield* readRateWait(name, max, perMs);
  if (waitMs > 0) throw new MustWait({ what: "rate", name, waitMs });
  yield* countStart(name, call.key, perMs);
}

function keyError(call: Call, cause: unknown): ToolwrightError {
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `Tool "${call.spec.name}": the key of a limit failed for these arguments: ${messageOf(cause)}.`,
    { details: { tool: call.spec.name }, effect: "none", cause },
  );
}

/** Cached outputs of pure tools. */
import { readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integerOrNull, type RowOf, text } from "./table.ts";

const CACHE_KEY = columns({
  /** `""` for the whole store. */
  runId: text("run_id"),
  toolName: text("tool_name"),
  cacheKey: text("cache_key"),
});

const CACHE = columns({
  ...CACHE_KEY.map,
  outputJson: text("output_json"),
  expiresAtMs: integerOrNull("expires_at_ms"),
});

export type CacheKey = RowOf<(typeof CACHE_KEY)["map"]>;

/**
 * @param latestMs the expiry of an entry that is written now. An entry that expires later was written before the clock was set
 * back; its age is unknown, so it counts as expired
 */
export function* readCache(
  key: CacheKey,
  nowMs: number,
  latestMs: number | null = null,
): Transaction<string | undefined> {
  const row = yield* first(
    `SELECT output_json FROM toolwright_cache WHERE run_id = ?1 AND tool_name = ?2 AND cache_key = ?3
       AND (expires_at_ms IS NULL OR (expires_at_ms > ?4 AND (CAST(?5 AS BIGINT) IS NULL OR expires_at_ms <= ?5)))`,
    key.runId,
    key.toolName,
    key.cacheKey,
    nowMs,
    latestMs,
  );
  return row === undefined ? undefined : readText(row, "output_json");
}

const WRITE = `INSERT INTO toolwright_cache (${CACHE.list()}) VALUES (${CACHE.parameters()})
ON CONFLICT (run_id, tool_name, cache_key) DO UPDATE SET ${CACHE.pick("outputJson", "expiresAtMs").excluded()}`;

export function writeCache(
  key: CacheKey,
  outputJson: string,
  expiresAtMs: number | null,
): Transaction<number> {
  return change(WRITE, ...CACHE_KEY.values(key), outputJson, expiresAtMs);
}

const CACHED_ANSWER = CACHE.pick("toolName", "cacheKey", "outputJson");
export type CachedAnswer = RowOf<(typeof CACHED_ANSWER)["map"]>;

const LIST = `SELECT ${CACHED_ANSWER.list()} FROM toolwright_cache
WHERE run_id = ?1 AND (expires_at_ms IS NULL OR expires_at_ms > ?2) ORDER BY tool_name, cache_key`;

/** The outputs that equal calls under this id would get now. */
export function* listCache(runId: string, nowMs: number): Transaction<CachedAnswer[]> {
  return (yield* all(LIST, runId, nowMs)).map(CACHED_ANSWER.parse);
}

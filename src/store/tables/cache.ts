/** Recorded answers of pure tools. */
import { text } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface CacheKey {
  /** `""` for the whole store. */
  readonly runId: string;
  readonly toolName: string;
  readonly cacheKey: string;
}

/**
 * @param latestMs an answer that expires later than one that is stored now was stored before the clock was set back, and how
 * old it is cannot be told: it counts as expired
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
  return row === undefined ? undefined : text(row, "output_json");
}

export function writeCache(
  key: CacheKey,
  outputJson: string,
  expiresAtMs: number | null,
): Transaction<number> {
  return change(
    `INSERT INTO toolwright_cache VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (run_id, tool_name, cache_key) DO UPDATE SET output_json = excluded.output_json,
       expires_at_ms = excluded.expires_at_ms`,
    key.runId,
    key.toolName,
    key.cacheKey,
    outputJson,
    expiresAtMs,
  );
}

export interface CachedAnswer {
  readonly toolName: string;
  readonly cacheKey: string;
  readonly outputJson: string;
}

/** What equal calls under this id would get now. */
export function* listCache(runId: string, nowMs: number): Transaction<CachedAnswer[]> {
  const rows = yield* all(
    `SELECT tool_name, cache_key, output_json FROM toolwright_cache
     WHERE run_id = ?1 AND (expires_at_ms IS NULL OR expires_at_ms > ?2) ORDER BY tool_name, cache_key`,
    runId,
    nowMs,
  );
  return rows.map((row) => ({
    toolName: text(row, "tool_name"),
    cacheKey: text(row, "cache_key"),
    outputJson: text(row, "output_json"),
  }));
}

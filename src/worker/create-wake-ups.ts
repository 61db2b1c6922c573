/** Chooses what wakes a worker. The queue engine is loaded only where it is needed. */
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import type { WakeUps } from "./wake-up.ts";

export async function createWakeUps({ store }: Host, leaseMs: number): Promise<WakeUps> {
  if (store.dialect === "sqlite") {
    const { SqliteWakeUps } = await import("./sqlite-wake-ups.ts");
    return new SqliteWakeUps(store);
  }
  const address = store.connectionString;
  if (address === undefined)
    throw new ToolwrightError(
      "TOOL_STORE_FAILED",
      "A worker needs a PostgreSQL store that knows its address.",
      {
        hint: 'Open the store with createRuntime({ store: "postgres://…" }) or openPostgresStore.',
      },
    );
  const { PostgresWakeUps } = await import("./postgres-wake-ups.ts");
  return new PostgresWakeUps(store, address, leaseMs);
}

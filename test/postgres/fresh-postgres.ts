/** A database on a real PostgreSQL server that nobody else uses. */
import { inject } from "vitest";

/** @returns its connection string. Rejects, and so fails the test, when no server can be started. */
export async function freshPostgres(): Promise<string> {
  const response = await fetch(inject("freshPostgresUrl"));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

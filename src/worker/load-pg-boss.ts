/** Loads pg-boss, which only workers on PostgreSQL need. */
import { createRequire } from "node:module";
import type { PgBoss } from "pg-boss";
import { ToolwrightError } from "../errors.ts";
import { importPeer } from "../load/import-peer.ts";

/** The tested versions: another one may have other tables. */
const WANTED = /^12\.35\./;
const INSTALL = 'Run: npm install "pg-boss@~12.35.0"';

/** @throws TOOL_PACKAGE_CONFLICT */
export async function loadPgBoss(): Promise<typeof PgBoss> {
  let loaded: { readonly PgBoss: typeof PgBoss };
  let version: string;
  try {
    loaded = await importPeer("pg-boss", () => import("pg-boss"));
    version = installedVersion();
  } catch (error) {
    throw new ToolwrightError(
      "TOOL_PACKAGE_CONFLICT",
      'A worker on PostgreSQL needs the package "pg-boss", version 12.35.',
      { hint: INSTALL, cause: error },
    );
  }
  if (WANTED.test(version)) return loaded.PgBoss;
  throw new ToolwrightError(
    "TOOL_PACKAGE_CONFLICT",
    `A worker on PostgreSQL needs pg-boss 12.35; version ${version} is installed.`,
    { hint: INSTALL, details: { package: "pg-boss", version } },
  );
}

function installedVersion(): string {
  const { version } = createRequire(import.meta.url)("pg-boss/package.json") as { version: string };
  return version;
}

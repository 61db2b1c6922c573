/** Provides one real PostgreSQL server to all test files. It starts when the first of them requests a database. */
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { ensureCode } from "../built-package.ts";
import { createBundleFolder } from "../bundle-program.ts";
import { prepareCompileCache, prepareShortImports } from "../quick-start.ts";
import { preparePublicRoot } from "../public-root.ts";
import { type PostgresServer, startServer } from "./start-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL where a test file requests a fresh database. */
    freshPostgresUrl: string;
    /** This project, in a location that every user of the machine can read. */
    publicRoot: string;
    /** Where the programs that tests start repeatedly are bundled. */
    bundleFolder: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  ensureCode();
  project.onTestsRerun(ensureCode);
  const root = preparePublicRoot();
  const compiled = prepareCompileCache();
  prepareShortImports();
  const bundles = createBundleFolder();
  let starting: Promise<PostgresServer> | undefined;
  let databases = 0;
  // Any program on this machine can reach the port; only the tests know the path.
  const path = `/${randomBytes(18).toString("base64url")}`;
  const http = createServer(async (request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end();
      return;
    }
    try {
      const { address } = await (starting ??= startServer(root.path));
      response.end(await createDatabase(address, `test_${(databases += 1)}`));
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    }
  });
  project.provide("publicRoot", root.path);
  project.provide("bundleFolder", bundles.path);
  project.provide("freshPostgresUrl", `http://127.0.0.1:${await listen(http)}${path}`);
  return async () => {
    http.close();
    http.closeAllConnections();
    await starting?.then(
      (server) => server.end(),
      // The tests that needed it have reported the failure.
      () => undefined,
    );
    root.remove();
    compiled.remove();
    bundles.remove();
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no free port was found");
  return address.port;
}

async function createDatabase(address: string, name: string): Promise<string> {
  const client = new Client({ connectionString: `${address}/postgres` });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  return `${address}/${name}`;
}

/** Looks at what a run needs, without changing any of it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describeIsolation } from "../sandbox/isolation/isolation.ts";
import { isFullIsolation } from "../sandbox/isolation/tier.ts";
import { countRuns } from "../store/tables/workflow-queries.ts";
import { toComplaint } from "./cli-error.ts";
import { readManifest } from "../load/package-root.ts";
import { withoutPassword } from "./command-name.ts";
import { storeExists, withStore } from "./open.ts";

export interface Check {
  readonly name: string;
  /** `note`: it works, and could be better. `wrong`: it does not work. */
  readonly status: "ok" | "note" | "wrong";
  readonly detail: string;
  readonly remedy: string | null;
}

/** What each is for. Only zod is needed. */
const PACKAGES = {
  zod: "schemas of tools and outputs",
  ai: "agents of the AI SDK",
  pg: "PostgreSQL stores",
  "@modelcontextprotocol/server": "toolwright mcp",
} as const;

export async function examine(store: string): Promise<Check[]> {
  return [
    good("node", `${process.version}; 22.13 or later is needed`),
    good("package", `toolwright ${readManifest().version}`),
    await examineStore(store),
    await examineIsolation(),
    ...Object.entries(PACKAGES).map(([name, use]) => examinePackage(name, use)),
  ];
}

async function examineStore(path: string): Promise<Check> {
  if (!storeExists(path)) return good("store", `${resolve(path)} is not there yet; the first run makes it`);
  try {
    const runs = await withStore(path, (store) => store.read(countRuns));
    const counts = Object.entries(runs).map(([status, count]) => `${count} ${status}`);
    return good("store", `${withoutPassword(path)}: ${counts.length === 0 ? "no runs" : counts.join(", ")}`);
  } catch (error) {
    const { message, hint } = toComplaint(error);
    return { name: "store", status: "wrong", detail: message, remedy: hint };
  }
}

async function examineIsolation(): Promise<Check> {
  const description = await describeIsolation();
  const { tier, enforces, reason, remedy } = description;
  const held = Object.entries(enforces).flatMap(([what, isHeld]) => (isHeld ? [what] : []));
  const detail = `${tier}; enforced for commands of tools: ${held.length === 0 ? "nothing" : held.join(", ")}`;
  if (isFullIsolation(description)) return good("sandbox", detail);
  return {
    name: "sandbox",
    status: "note",
    detail: `${detail}. ${reason ?? ""}`.trim(),
    remedy: remedy ?? null,
  };
}

function examinePackage(name: string, use: string): Check {
  const version =
    findPackage(name, process.cwd()) ?? findPackage(name, dirname(fileURLToPath(import.meta.url)));
  if (version !== undefined) return good(name, `${version}, for ${use}`);
  const status = name === "zod" ? "wrong" : "note";
  return { name, status, detail: `not installed; for ${use}`, remedy: `npm install ${name}` };
}

/** As Node looks for it: in each folder upwards. */
function findPackage(name: string, folder: string): string | undefined {
  const manifest = join(folder, "node_modules", name, "package.json");
  if (existsSync(manifest))
    return (JSON.parse(readFileSync(manifest, "utf8")) as { version?: string }).version;
  return dirname(folder) === folder ? undefined : findPackage(name, dirname(folder));
}

function good(name: string, detail: string): Check {
  return { name, status: "ok", detail, remedy: null };
}

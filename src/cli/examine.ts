/** Checks what a run needs. Changes nothing. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describeIsolation } from "../sandbox/tiers/isolation.ts";
import { isFullIsolation } from "../sandbox/tiers/isolation-tier.ts";
import { errnoOf } from "../sandbox/files/file-error.ts";
import { toErrorReport } from "./cli-error.ts";
import { readManifest } from "../load/package-root.ts";
import { withStore } from "../operate/find-run.ts";
import { countRuns } from "../operate/list-runs.ts";
import { printedWord } from "../terminal/terminal-text.ts";
import { stateOfStore, withoutPassword, withoutWaiting } from "../operate/store-address.ts";

export interface Check {
  readonly name: string;
  /** `note`: it works, and could work better. `wrong`: it does not work. */
  readonly status: "ok" | "note" | "wrong";
  readonly detail: string;
  readonly remedy: string | null;
}

/** The purpose of each package. Only zod is required. */
const PACKAGES = {
  zod: "schemas of tools and outputs",
  ai: "AI SDK agents",
  pg: "PostgreSQL stores",
  "@modelcontextprotocol/server": "toolwright mcp",
} as const;

export async function examine(store: string): Promise<Check[]> {
  return [
    good("node", `${process.version}; 22.13 or later is required`),
    good("package", `toolwright ${readManifest().version}`),
    await examineStore(store),
    await examineIsolation(),
    ...Object.entries(PACKAGES).map(([name, use]) => examinePackage(name, use)),
  ];
}

async function examineStore(path: string): Promise<Check> {
  const state = stateOfStore(path);
  if (state === "foreign")
    return good("store", `${resolve(path)} has no Toolwright tables yet; the first run adds them`);
  if (state === "missing") {
    const folder = dirname(resolve(path));
    if (existsSync(folder)) {
      const refusal = refusalToWrite(folder);
      if (refusal === undefined)
        return good("store", `${resolve(path)} does not exist yet; the first run creates it`);
      return {
        name: "store",
        status: "wrong",
        detail: `${resolve(path)}: the folder ${folder} cannot be written (${refusal}), so no run can create the store`,
        remedy: "Allow this user to write to the folder, or choose another store.",
      };
    }
    const detail = `${resolve(path)}: the folder ${folder} does not exist, so no run can create the store`;
    return { name: "store", status: "wrong", detail, remedy: `mkdir -p ${printedWord(folder)}` };
  }
  try {
    // A server that starts is not waited for: the check should say so at once.
    const runs = await withStore(withoutWaiting(path), countRuns);
    const counts = Object.entries(runs).map(([status, count]) => `${count} ${status}`);
    return good("store", `${withoutPassword(path)}: ${counts.length === 0 ? "no runs" : counts.join(", ")}`);
  } catch (error) {
    const { message, hint } = toErrorReport(error);
    return { name: "store", status: "wrong", detail: message, remedy: hint };
  }
}

/** The code of the error, such as EACCES or EROFS. */
function refusalToWrite(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error);
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

/** Searches this folder and its parents, as Node does. */
function findPackage(name: string, folder: string): string | undefined {
  const manifest = join(folder, "node_modules", name, "package.json");
  if (existsSync(manifest))
    return (JSON.parse(readFileSync(manifest, "utf8")) as { version?: string }).version;
  return dirname(folder) === folder ? undefined : findPackage(name, dirname(folder));
}

function good(name: string, detail: string): Check {
  return { name, status: "ok", detail, remedy: null };
}

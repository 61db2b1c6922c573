/**
 * An agent process in a given situation: with some programs missing from PATH, without user namespaces, as another
 * user. It runs scripts as the `bash` tool would, and prints the outcome of each.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { OTHER_USER, quickStart } from "../quick-start.ts";
import { publicNode } from "../public-root.ts";
import { denyNamespaces } from "./deny-namespaces.ts";
import type { Place } from "./process-harness.ts";

export interface Situation {
  readonly without?: readonly string[];
  /** By a filter as in containers, by the kernel's own limit, or together with Landlock. */
  readonly namespaces?: "filtered" | "limited" | "without Landlock";
  readonly user?: "other";
  readonly isolation?: "require" | "auto" | "off";
}

export interface Script {
  readonly text: string;
  /** Long enough for any machine, unless the script is to be cut off. */
  readonly timeoutMs?: number;
}

export interface Told {
  readonly description: { tier: string; enforces: Record<string, boolean>; reason?: string; remedy?: string };
  readonly results: readonly {
    ok?: string;
    code?: string;
    message?: string;
    hint?: string;
    tier?: string;
  }[];
  readonly stderr: string;
}

export interface AgentRequest {
  readonly place: Place;
  readonly situation: Situation;
  readonly scripts: readonly Script[];
  /** The agent's own environment, which commands must not get. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onStart?: ((child: ChildProcess) => void) | undefined;
}

export const isRoot = process.getuid?.() === 0;

/** In each script, AGENT stands for the id of the agent process. */
export async function runAgent({ place, situation, scripts, env, onStart }: AgentRequest): Promise<Told> {
  const program = `
    const { describeIsolation } = await import(${JSON.stringify(source("tiers/isolation.ts"))});
    const { runCommand } = await import(${JSON.stringify(source("process/run-command.ts"))});
    const results = [];
    process.on("SIGUSR2", () =>
      console.error("After", results.length, "commands it waits for:", ...process.getActiveResourcesInfo()));
    for (const { text, timeoutMs = 60000 } of ${JSON.stringify(scripts)}) {
      const script = text.replaceAll("AGENT", String(process.pid));
      const request = { cmd: "sh", args: ["-c", script], rootDir: ${JSON.stringify(place.root)}, allowNetwork: false,
        maxOutputBytes: 100000, timeoutMs, isolation: ${JSON.stringify(situation.isolation ?? "auto")} };
      results.push(await runCommand(request).then((r) => ({ ok: r.output, tier: r.tier }),
        (e) => ({ code: e.code ?? e.stack, message: e.message, hint: e.hint, tier: e.details?.tier })));
    }
    console.log(JSON.stringify({ description: await describeIsolation(), results }));`;
  const node = publicNode(inject("publicRoot"));
  const argv = [...situationWords(place, situation), node, ...NODE_OPTIONS, program];
  const path = pathWithout(place, situation.without ?? []);
  const child = spawn(argv[0] ?? "", argv.slice(1), {
    env: {
      PATH: path,
      HOME: "/nonexistent",
      LANG: "C.UTF-8",
      ...quickStart(situation.user ?? "own", inject("publicRoot")),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onStart?.(child);
  let processes = "";
  const stuck = setTimeout(() => {
    // Before it is killed: the processes that are left say what it waits for.
    processes = execFileSync("ps", ["-eo", "pid,ppid,user,etimes,stat,wchan:24,args"], { encoding: "utf8" });
    child.kill("SIGUSR2");
    setTimeout(() => child.kill("SIGKILL"), 2_000);
  }, STUCK_MS);
  const [stdout, stderr] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
  clearTimeout(stuck);
  if (processes !== "")
    throw new Error(`The agent process was stuck. ${stderr}\nAll processes:\n${processes}`);
  if (stdout === "") throw new Error(`The agent process said nothing but: ${stderr}`);
  return { ...(JSON.parse(stdout) as Told), stderr };
}

/** Less than the hooks that wait for an agent. */
const STUCK_MS = 200_000;
const NODE_OPTIONS = ["--experimental-strip-types", "--no-warnings", "--input-type=module", "-e"];
const source = (path: string): string => join(inject("publicRoot"), "src/sandbox", path);

function situationWords(place: Place, { namespaces, user }: Situation): string[] {
  const limit = `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`;
  const other = [
    "/usr/bin/setpriv",
    `--reuid=${OTHER_USER}`,
    `--regid=${OTHER_USER}`,
    "--clear-groups",
    "--",
  ];
  return [
    ...(namespaces === "limited" ? ["/usr/bin/unshare", "-Ur", "/bin/sh", "-c", limit, "sh"] : []),
    ...(user === "other" ? other : []),
    ...(namespaces === "filtered" ? denyNamespaces(join(place.base, "filter")) : []),
    ...(namespaces === "without Landlock" ? denyNamespaces(join(place.base, "filter-all"), "landlock") : []),
  ];
}

/** A PATH on which some programs are missing, made of links to all the others. */
export function pathWithout({ base }: Pick<Place, "base">, names: readonly string[]): string {
  if (names.length === 0) return "/usr/local/bin:/usr/bin:/bin";
  const folder = join(base, `without-${names.join("-")}`);
  try {
    mkdirSync(folder, { mode: 0o755 });
  } catch {
    return folder; // Made for an earlier test.
  }
  for (const name of readdirSync("/usr/bin"))
    if (!names.includes(name)) symlinkSync(join("/usr/bin", name), join(folder, name));
  return folder;
}

async function readAll(stream: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

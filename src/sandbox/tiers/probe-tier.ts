/**
 * Attacks each claim of a tier from inside: a file next to the root, a listener, another process, the environment of
 * this one. A tier that does not start or does not hold is not used.
 */
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { cleanPath } from "./clean-environment.ts";
import { holdProtections } from "../protection/protection-plan.ts";
import { runProcess } from "../process/run-process.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import type { Programs, Tier } from "./tier.ts";

/** Returns the problem, or undefined if the tier works and enforces its claims. */
export async function probeTier(
  tier: Tier,
  programs: Programs,
  perl: string | undefined,
): Promise<string | undefined> {
  let base: string;
  try {
    base = mkdtempSync(join(temporaryFolder() ?? "/tmp", "toolwright-probe-"));
  } catch (error) {
    return `there is no folder for temporary files: ${String(error)}`;
  }
  const [root, out] = [join(base, "root"), join(base, "out")];
  const listener = createServer((socket) => socket.destroy());
  try {
    mkdirSync(root);
    mkdirSync(out);
    writeFileSync(join(out, "file"), "x\n", { mode: 0o640 });
    await once(listener.listen(0, "127.0.0.1"), "listening");
    const address = listener.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const facts = [out, `${process.pid}`, `${port}`, perl ?? "", namespaceOf("pid"), namespaceOf("net")];
    return await runProbe(tier, programs, root, facts);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    listener.close();
    rmSync(base, { recursive: true, force: true });
  }
}

/** Far longer than a start ever takes: a busy machine must not be mistaken for one without a sandbox. */
const PROBE_LIMIT_MS = 30_000;
const DONE = "tried";

async function runProbe(
  tier: Tier,
  programs: Programs,
  root: string,
  facts: readonly string[],
): Promise<string | undefined> {
  const plan = holdProtections(root, [], []);
  const launch = tier.plan(programs, {
    plan,
    cmd: "/bin/sh",
    args: ["-c", ATTACKS, "sh", ...facts],
    cwd: root,
    root,
    rootReadOnly: false,
    env: { PATH: cleanPath(process.env["PATH"], [root]), HOME: "/nonexistent" },
    allowNetwork: false,
    hidden: [],
    readOnly: [],
  });
  const result = await runProcess({
    launch,
    maxOutputBytes: 4_096,
    timeoutMs: PROBE_LIMIT_MS,
    merge: true,
  }).finally(() => plan.close());
  const words = result.output.text().trim().split(/\s+/);
  const failure = result.mismatch ?? result.status.failed;
  if (failure !== undefined) return failure;
  if (!words.includes(DONE)) {
    const said = result.output.text().trim();
    return said === "" ? `it ended with ${result.signal ?? `exit code ${result.exitCode}`}` : said;
  }
  if (!words.includes("works")) return "its own root cannot be written";
  const broken = Object.entries(tier.enforces).flatMap(([claim, claims]) => {
    return claims && words.includes(claim) ? [claim] : [];
  });
  return broken.length === 0 ? undefined : `it does not confine ${broken.join(" and ")}`;
}

/** Prints the name of a claim if an attack on it succeeds. Without Perl, a separate network namespace is enough. */
const ATTACKS = `
out=$1 agent=$2 port=$3 perl=$4 pids=$5 net=$6
exec 2>/dev/null
# What cannot be looked at counts as shared.
is_shared() { own=$(readlink "/proc/self/ns/$1"); [ -z "$own" ] || [ "$own" = "$2" ]; }
(: > mine) && [ -f mine ] && echo works
(read line < "$out/file") && echo filesystem
(: >> "$out/file") && echo filesystem
(: > "$out/made") && echo filesystem
(chmod 600 "$out/file") && echo filesystem
(read line < "/proc/$agent/root$out/file") && echo filesystem
if is_shared pid "$pids"; then
  echo processes
  (read line < "/proc/$agent/environ") && echo environment
  (: >> "/proc/$agent/mem") && echo network filesystem
fi
is_shared net "$net" && [ ! -x "$perl" ] && echo network
[ -x "$perl" ] && "$perl" -e '
  if (socket(my $s, 2, 1, 0)) { print "network\\n" if connect($s, pack("S n C4 x8", 2, $ARGV[0], 127, 0, 0, 1)) }
  print "network\\n" if socket(my $s, 40, 1, 0);
' "$port"
echo ${DONE}
`;

function namespaceOf(kind: string): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`);
  } catch {
    return ""; // Not Linux: there is nothing to compare.
  }
}

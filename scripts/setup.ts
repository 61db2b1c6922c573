/**
 * Installs the system packages that the tests need, by apt or brew, if it can: as root or with passwordless sudo.
 * Otherwise it says in one sentence what to install. It never fails: the test that needs a package does.
 */
import { spawnSync } from "node:child_process";

interface SystemPackage {
  /** The command that shows that it is there. */
  readonly command: string;
  readonly apt: string;
  /** `null` if the system does not need it. */
  readonly brew: string | null;
  readonly why: string;
}

const attack = "attacks on the sandbox in its tests";

const PACKAGES: readonly SystemPackage[] = [
  { command: "bwrap", apt: "bubblewrap", brew: null, why: "the sandbox of commands" },
  { command: "unshare", apt: "util-linux", brew: null, why: "the second tier of the sandbox" },
  { command: "perl", apt: "perl", brew: null, why: "the third tier of the sandbox" },
  { command: "git", apt: "git", brew: "git", why: "snapshots of a work tree" },
  { command: "pgbouncer", apt: "pgbouncer", brew: "pgbouncer", why: "tests of a store behind a pooler" },
  {
    command: "chromium-headless-shell",
    apt: "chromium-headless-shell",
    brew: null,
    why: "tests of the page",
  },
  { command: "python3", apt: "python3", brew: null, why: attack },
  { command: "curl", apt: "curl", brew: null, why: attack },
  { command: "wget", apt: "wget", brew: null, why: attack },
  { command: "busybox", apt: "busybox-static", brew: null, why: attack },
  { command: "nc", apt: "netcat-openbsd", brew: null, why: attack },
  { command: "socat", apt: "socat", brew: null, why: attack },
  { command: "strace", apt: "strace", brew: null, why: attack },
  { command: "openssl", apt: "openssl", brew: null, why: attack },
];

function has(command: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${command}`], { stdio: "ignore" }).status === 0;
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
}

/** The words before a command that needs rights, or `undefined` where there are none. */
function privilege(): string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0 ? ["sudo", "-n"] : undefined;
}

function install(missing: readonly SystemPackage[]): boolean {
  if (process.platform === "darwin") {
    const names = missing.flatMap(({ brew }) => brew ?? []);
    return names.length === 0 || (has("brew") && run("brew", "install", ...names));
  }
  const rights = privilege();
  if (rights === undefined || !has("apt-get")) return false;
  const [command = "apt-get", ...before] = [...rights, "apt-get"];
  const names = missing.map(({ apt }) => apt);
  const apt = (...args: string[]): boolean => run(command, ...before, ...args);
  return (
    apt("install", "-y", "-qq", ...names) || (apt("update", "-qq") && apt("install", "-y", "-qq", ...names))
  );
}

const missing = PACKAGES.filter(
  ({ command, brew }) => !has(command) && !(process.platform === "darwin" && brew === null),
);
if (missing.length > 0) {
  console.log(`setup: installing ${missing.map(({ apt, why }) => `${apt} (${why})`).join(", ")}`);
  if (!install(missing)) {
    console.log(
      `setup: please install ${missing.map(({ apt }) => apt).join(" and ")} yourself, for example: sudo apt-get install ${missing.map(({ apt }) => apt).join(" ")}`,
    );
  }
}

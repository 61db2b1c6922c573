/** Helpers for the attack tests: a root, a home with keys next to it, and agents of two users. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { compileCacheOf, OTHER_USER, quickStart } from "../quick-start.ts";
import { publicNode } from "../public-root.ts";
import { endSharedAgents, requestFromShared, startAttackAgent } from "./attack-agent.ts";
import type { Ended, Step } from "./attack-process.ts";

const isRoot = process.getuid?.() === 0;

/** The user who runs the tests and, when that user is root, an ordinary user too. */
export const USERS = isRoot ? (["root", "an ordinary user"] as const) : (["an ordinary user"] as const);
export type User = (typeof USERS)[number];

/**
 * In the first tier one user attacks, in the others the other one, so that each attacks every case. Every night both attack in
 * all tiers.
 * @param turn determines which user attacks in the first tier
 */
export function attackers(turn: number): readonly User[] {
  const place = isFirstTier ? turn : turn + 1;
  return IS_EXHAUSTIVE ? USERS : [USERS[place % USERS.length] ?? USERS[0]];
}

let isFirstTier = true;
let programs = "/usr/local/bin:/usr/bin:/bin";
let startedBy: readonly string[] = [];
let isolation: "require" | "auto" = "require";

/** Sets the PATH of later agents. The programs that are missing there determine their tier. */
export function attackWith(path: string): void {
  [programs, isFirstTier] = [path, false];
}

/** Sets the command that starts later agents. Each takes the best tier that is available then. */
export function attackUnder(words: readonly string[]): void {
  [startedBy, isolation, isFirstTier] = [words, "auto", false];
}

/** Whether agents run in a tier with fewer features than namespaces. */
export const isConfinedOnly = (): boolean => isolation === "auto";

export interface AttackPlace {
  readonly base: string;
  readonly root: string;
  readonly home: string;
  /** Runs the steps in one agent process, which earlier tests may have used too. */
  run(...steps: Step[]): Promise<Ended[]>;
  /** Runs a script of the user, with the user's home. */
  person(text: string): string;
  /** Whether code of the attacker ran on the host. */
  isPwned(): boolean;
  keys(): string;
  remove(): void;
}

afterAll(endSharedAgents);

/**
 * `agentFile` names a program in the root, and `node` runs it: once for each run. By default it is the program of this
 * project.
 */
export function createAttackPlace(
  user: User,
  agentFile?: (root: string) => string,
  node?: string,
  known?: AttackPlace,
): AttackPlace {
  const base = known?.base ?? realpathSync(mkdtempSync(join(tmpdir(), "toolwright-attack-")));
  const [root, home] = [join(base, "root"), join(base, "home")];
  for (const folder of [root, join(home, ".ssh/hooks")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, ".ssh/id_rsa"), "PRIVATE-KEY\n");
  writeFileSync(join(home, ".ssh/config"), "SSH-CONFIG\n");
  writeFileSync(join(home, ".ssh/authorized_keys"), "ssh-ed25519 mine\n");
  writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = a\n\temail = a@b.c\n[safe]\n\tdirectory = *\n");
  chmodSync(base, 0o755);
  const isOther = isRoot && user !== "root";
  const own = (): void => {
    if (isOther) execFileSync("chown", ["-R", `${OTHER_USER}:${OTHER_USER}`, base]);
  };
  own();
  const identity = isOther ? { uid: OTHER_USER, gid: OTHER_USER } : {};
  const env = { HOME: home, PATH: programs, LANG: "C.UTF-8" };
  return {
    base,
    root,
    home,
    async run(...steps) {
      own();
      const publicRoot = inject("publicRoot");
      const program = agentFile?.(root) ?? join(publicRoot, "test/sandbox/attack-process.ts");
      const userOfCache = isOther ? "other" : "own";
      const start = {
        argv: [...startedBy, node ?? publicNode(publicRoot), "--no-warnings", program],
        env: {
          ...env,
          HOME: "/nonexistent",
          ...(agentFile === undefined ? quickStart(userOfCache, publicRoot) : compileCacheOf(userOfCache)),
        },
        cwd: "/",
        ...identity,
      };
      const request = { base, root, home, isolation, steps };
      if (agentFile === undefined) return requestFromShared(start, request);
      const agent = startAttackAgent({ ...start, env: { ...start.env, HOME: home }, cwd: base });
      const ended = await agent.request(request);
      await agent.end();
      return ended;
    },
    person: (text) =>
      execFileSync("/bin/sh", ["-c", text], { ...identity, env, cwd: root, encoding: "utf8", stdio: "pipe" }),
    isPwned: () => {
      try {
        readFileSync(join(base, "PWNED"));
        return true;
      } catch {
        return false;
      }
    },
    keys: () => readFileSync(join(home, ".ssh/authorized_keys"), "utf8"),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

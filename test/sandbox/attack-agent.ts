/** Starts the agent process of the attack tests, and sends requests to it. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { AttackRequest, Ended } from "./attack-process.ts";

export interface AttackAgent {
  /** Rejects when the process ends without an answer. */
  request(request: AttackRequest): Promise<Ended[]>;
  /** Resolves when the process has ended by itself, with the requests that it has received. */
  end(): Promise<void>;
  kill(): void;
}

interface StartOptions {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
}

export function startAttackAgent({ argv: [file = "", ...args], ...options }: StartOptions): AttackAgent {
  const child = spawn(file, args, { ...options, stdio: "pipe" });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  // A process that has ended does not read: `request` reports why.
  child.stdin.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(`it ended with ${signal ?? `exit code ${code}`}`));
  });
  const fail = async (): Promise<never> => {
    throw new Error(`The agent process said nothing: ${await closed}. ${stderr}`.trim());
  };
  return {
    async request(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      return done === true ? fail() : (JSON.parse(value) as Ended[]);
    },
    async end() {
      child.stdin.end();
      await closed;
      if (child.exitCode !== 0) await fail();
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

const idle = new Map<string, AttackAgent>();
const busy = new Set<AttackAgent>();

/**
 * Uses the agent of an earlier request with the same start, since to start one and to probe the tiers takes far longer
 * than an attack. An agent that has not answered is not used again.
 */
export async function requestFromShared(start: StartOptions, request: AttackRequest): Promise<Ended[]> {
  const key = JSON.stringify(start);
  const agent = idle.get(key) ?? startAttackAgent(start);
  idle.delete(key);
  busy.add(agent);
  const ended = await agent.request(request);
  busy.delete(agent);
  idle.set(key, agent);
  return ended;
}

export async function endSharedAgents(): Promise<void> {
  for (const agent of busy) agent.kill();
  await Promise.all([...idle.values()].map((agent) => agent.end()));
  idle.clear();
}

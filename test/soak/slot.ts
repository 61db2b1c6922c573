/** Keeps one process of a role alive, whatever happens to it, until the soak ends. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../random.ts";
import type { Ledger } from "./ledger.ts";
import { planProcess, QUIET_PLAN, type Role } from "./plan.ts";
import { type ProcessEnd, type SoakProcess, startProcess, type StartOptions } from "./processes.ts";
import { EXIT_STORE_FAILED } from "./programs/soak-process.ts";
import type { Tally } from "./tally.ts";

export interface SlotOptions {
  readonly store: string;
  readonly role: Role;
  readonly number: number;
  /** The program of the role. */
  readonly file: string;
  readonly random: Random;
  readonly input: StartOptions["input"];
  readonly ledger: Ledger;
  readonly tally: Tally;
  /** No small disk could be mounted: processes limit their own connections. */
  readonly limitsPages: boolean;
}

/** The database is down: the next start waits a moment, as a supervisor does. */
const RESTART_MS = 200;

export class Slot {
  readonly #options: SlotOptions;
  readonly #name: string;
  #process: SoakProcess | undefined;
  #incarnation = 0;
  #isQuiet = false;
  #isOver = false;
  #running: Promise<void> | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#name = `${options.store}/${options.role}-${options.number}`;
  }

  start(): void {
    this.#running = this.#keepAlive();
  }

  /** The address of the process, once there is one that works. */
  async url(): Promise<string | undefined> {
    return this.#process?.ready;
  }

  /** From now on nothing happens to it. */
  quiet(): void {
    this.#isQuiet = true;
    this.#process?.spare();
  }

  /** Ends the process in good order. Resolves when it has ended. */
  async end(longestMs: number): Promise<void> {
    this.#isOver = true;
    this.#process?.signal("SIGTERM");
    const { tally, store } = this.#options;
    if ((await Promise.race([this.#running, sleep(longestMs, "late", { ref: false })])) !== "late") return;
    tally.fail({
      kind: "stuck",
      store,
      about: this.#name,
      message: `${this.#process?.name} did not end within ${longestMs} ms after SIGTERM`,
    });
    this.kill();
  }

  kill(): void {
    this.#isOver = true;
    this.#process?.signal("SIGKILL");
  }

  /** Starts one process, and resolves when it has ended. @param input replaces parts of the input */
  async once(input: Partial<StartOptions["input"]> = {}): Promise<ProcessEnd> {
    const { role, file, random, ledger, tally, limitsPages } = this.#options;
    const incarnation = (this.#incarnation += 1);
    const planned = this.#isQuiet
      ? QUIET_PLAN
      : planProcess(random.fork(`${this.#name} ${incarnation}`), role, incarnation);
    this.#process = startProcess({
      name: `${this.#name}/${incarnation}`,
      role,
      file,
      plan: limitsPages ? planned : { ...planned, fullDisk: null },
      input: { ...this.#options.input, ...input },
      ledger,
      tally,
    });
    const end = await this.#process.ended;
    tally.count("processes");
    return end;
  }

  async #keepAlive(): Promise<void> {
    while (!this.#isOver) {
      const { code, signal, stderr } = await this.once();
      if (signal !== null || code === 0) continue;
      this.#options.tally.count("failed starts");
      if (code !== EXIT_STORE_FAILED) this.crashed(code, stderr);
      await sleep(RESTART_MS);
    }
  }

  /** A process that no fault has ended must not end. */
  crashed(code: number | null, stderr: string): void {
    const { tally, store } = this.#options;
    tally.fail({
      kind: "crashed",
      store,
      about: this.#process?.name ?? this.#name,
      message: `ended by itself with ${code}: ${stderr.trim().split("\n").slice(0, 12).join("\n")}`,
    });
  }
}

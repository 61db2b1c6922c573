/** One soak over all stores. `npm run soak` and the test in this folder are its two callers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScriptedAnthropic } from "../../src/testing/anthropic/scripted-anthropic.ts";
import { atExit } from "../at-exit.ts";
import { Random } from "../random.ts";
import type { BuiltPrograms } from "./build-programs.ts";
import type { Database } from "./database.ts";
import { openLedger } from "./ledger.ts";
import type { StoreName } from "./plan.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { answerTo } from "./programs/model.ts";
import { type Scale, soakStore } from "./soak-store.ts";
import { createSqliteDatabase } from "./sqlite-database.ts";
import { type Fault, Tally } from "./tally.ts";

export interface SoakOptions {
  readonly seed: number;
  /** How long faults happen. Afterwards everything has to come to its end. */
  readonly faultMs: number;
  /** Faults end earlier after this many kills. */
  readonly mostKills?: number | undefined;
  readonly stores: readonly StoreName[];
  readonly scale: Scale;
  readonly programs: BuiltPrograms;
  /** The project, in a location that every user of the machine can read. */
  readonly publicRoot: string;
  readonly onProgress?: (tally: Tally) => void;
  /** Aborted: the faults end earlier. The jobs still come to their end, and the audit follows. */
  readonly endFaults?: AbortSignal | undefined;
}

export interface SoakResult {
  readonly seed: number;
  readonly stores: readonly StoreName[];
  readonly seconds: number;
  readonly killsPerMinute: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly Fault[];
}

/** About one process start per second and store. */
export const SMALL: Scale = {
  workers: 2,
  lanes: {
    "waiting-workflow": 1,
    workflow: 2,
    program: 2,
    "smart-agent": 1,
    "agent-loop": 1,
    script: 1,
    chat: 1,
    "served-workflow": 1,
  },
};

/** As many kills as possible: scripts start fast. */
export const LARGE: Scale = { workers: 2, lanes: { ...SMALL.lanes, workflow: 3, script: 8, chat: 2 } };

const PROGRESS_MS = 1_000;

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { seed, faultMs, mostKills = Infinity, stores, onProgress } = options;
  const tally = new Tally();
  const random = new Random(seed);
  const rootDir = mkdtempSync(join(tmpdir(), "toolwright-soak-root-"));
  const removeRoot = atExit(() => rmSync(rootDir, { recursive: true, force: true }));
  const databases: Database[] = [];
  const faultsOver = new AbortController();
  await using ledger = await openLedger(tally);
  await using anthropic = await createScriptedAnthropic([({ body }) => answerRequest(body.messages)], {
    atEnd: "repeat-last",
  });
  let faultSeconds = 0;
  try {
    for (const store of stores)
      databases.push(
        store === "sqlite" ? createSqliteDatabase() : await createPostgresDatabase(options.publicRoot),
      );
    const began = performance.now();
    const endFaults = (): void => {
      if (faultsOver.signal.aborted) return;
      faultSeconds = (performance.now() - began) / 1_000;
      faultsOver.abort();
    };
    const timer = setTimeout(endFaults, faultMs);
    const progress = setInterval(() => {
      onProgress?.(tally);
      // What went wrong once is enough: the audit then shows everything.
      if (tally.kills >= mostKills || tally.faults.length > 0 || options.endFaults?.aborted === true)
        endFaults();
    }, PROGRESS_MS);
    try {
      await Promise.all(
        databases.map((database) =>
          soakStore({
            database,
            random,
            scale: options.scale,
            programs: options.programs,
            ledger,
            modelUrl: anthropic.baseURL,
            rootDir,
            tally,
            faultsOver: faultsOver.signal,
          }),
        ),
      );
    } finally {
      clearTimeout(timer);
      clearInterval(progress);
      endFaults();
    }
  } finally {
    for (const database of databases) await database[Symbol.asyncDispose]();
    removeRoot();
  }
  return {
    seed,
    stores,
    seconds: Math.round(tally.seconds),
    killsPerMinute: Math.round(tally.kills / Math.max(faultSeconds / 60, 1 / 60)),
    counts: tally.counts,
    faults: tally.faults,
  };
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

function answerRequest(messages: readonly Message[]): ReturnType<typeof answerTo> {
  const turn = messages.filter(({ role }) => role === "assistant").length;
  return answerTo(textOf(messages[0]?.content), turn);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as readonly { text?: string }[]).map(({ text = "" }) => text).join("");
}

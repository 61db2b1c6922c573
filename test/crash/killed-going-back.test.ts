/**
 * Forks and reverts, from the command line and over HTTP, killed after each statement: nothing is half done, the parent does not
 * change, and each effect is reverted under one key. Effects are lines of a file.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { all } from "../../src/store/statement.ts";
import { openStore } from "../../src/store/open-store.ts";
import { IS_EXHAUSTIVE } from "../amount.ts";
import { createFolder, type Finished, start, toolwright } from "../cli/command.ts";
import { ask } from "../server/harness.ts";
import { STORE_KINDS } from "../store-kinds.ts";

const WORKFLOW = `
import { appendFileSync } from "node:fs";
import { createWorkflows, defineTool } from "toolwright";
import { z } from "zod";
const note = (line) => appendFileSync(new URL("effects.txt", import.meta.url), line + "\\n");
const book = defineTool({
  name: "book",
  schema: z.object({ what: z.string() }),
  sideEffect: true,
  idempotent: false,
  execute: async ({ what }, ctx) => note("book " + what + " " + ctx.idempotencyKey),
  revert: async ({ what }, ctx) => note("cancel " + what + " " + ctx.idempotencyKey),
});
const { Workflow, Task, workflow } = createWorkflows({ output: z.object({}) });
export default workflow(() => (
  <Workflow name="trip">
    <Task id="hotel">{async () => { await book.execute({ what: "hotel" }); }}</Task>
    <Task id="flight">{async () => { await book.execute({ what: "flight" }); }}</Task>
  </Workflow>
));
`;

interface Kill {
  /** The first statement that counts. */
  readonly from: string;
  readonly step: number;
}

const PRELOAD = resolve(import.meta.dirname, "kill-at-statement.cjs");
const envOf = (kill: Kill | undefined): Record<string, string> =>
  kill === undefined
    ? {}
    : { NODE_OPTIONS: `--require ${PRELOAD}`, KILL_FROM: kill.from, KILL_AT: String(kill.step) };

interface Face {
  readonly name: string;
  /** `false` if the process was killed. */
  fork(folder: string, runId: string, kill: Kill): Promise<boolean>;
  revert(folder: string, runId: string, kill?: Kill): Promise<boolean>;
}

const wasNotKilled = ({ code, stderr }: Finished): boolean => {
  if (code !== null) expect([code, stderr]).toEqual([0, ""]);
  return code !== null;
};

/** Sends one request to its own server. */
async function post(folder: string, path: string, body: object, kill?: Kill): Promise<boolean> {
  const server = start(folder, ["serve", "--port", "0", "--json"], { env: envOf(kill) });
  await server.saying("}\n");
  const { url, token } = JSON.parse(server.printed()) as { url: string; token: string };
  const answer = await ask({ url }, path, { token, body }).catch(() => undefined);
  if (answer !== undefined) expect(answer.status).toBe(202);
  server.child.kill("SIGKILL");
  await server.ended;
  return answer !== undefined;
}

const FACES: readonly Face[] = [
  {
    name: "from the command line",
    fork: async (folder, runId, kill) =>
      wasNotKilled(
        await toolwright(folder, ["fork", runId, "--at", "flight", "--effects", "run"], { env: envOf(kill) }),
      ),
    revert: async (folder, runId, kill) =>
      wasNotKilled(await toolwright(folder, ["revert", runId], { env: envOf(kill) })),
  },
  {
    name: "over HTTP",
    fork: (folder, runId, kill) =>
      post(folder, `/runs/${runId}/fork`, { at: "flight", effects: "run" }, kill),
    revert: (folder, runId, kill) => post(folder, `/runs/${runId}/revert`, {}, kill),
  },
];

/** The steps to kill at: usually only some of them. A statement on PostgreSQL is several messages. */
function* steps(store: string, offset: number): Generator<number> {
  const every = IS_EXHAUSTIVE ? 1 : store === "SQLite" ? 9 : 40;
  for (let step = offset; ; step += every) yield step;
}

/** Usually forks from the command line on SQLite, and reverts over HTTP on PostgreSQL. */
const facesOn = (store: string, usual: "SQLite" | "PostgreSQL") =>
  FACES.map((face, index) => ({ ...face, index })).filter(
    ({ index }) => IS_EXHAUSTIVE || (store === usual && (usual === "SQLite") === (index === 0)),
  );

describe.each(STORE_KINDS)("on $name", (kind) => {
  async function openProject() {
    const fresh = await kind.fresh();
    onTestFinished(() => fresh[Symbol.asyncDispose]());
    const config = `export default { store: ${JSON.stringify(fresh.address)}, workflows: { trip: "./trip.tsx" } };`;
    const folder = createFolder({ "trip.tsx": WORKFLOW, "toolwright.config.ts": config });
    const up = async (runId: string): Promise<void> =>
      expect(await toolwright(folder, ["up", "trip", "--run-id", runId])).toMatchObject({ code: 0 });
    await up("p");
    const store = await openStore(fresh.address);
    onTestFinished(() => store.close());
    const rows = (sql: string) => store.read(() => all(sql));
    return {
      folder,
      up,
      rows,
      effects: (): string[] => readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n"),
      /** All that is stored of the first run. */
      parent: async (): Promise<string> =>
        JSON.stringify(
          await Promise.all(
            [
              "runs WHERE id = 'p'",
              "workflow_runs WHERE run_id = 'p'",
              "tasks WHERE run_id = 'p' ORDER BY position",
              "outlines WHERE run_id = 'p'",
              "scopes WHERE run_id = 'p' ORDER BY id",
              "calls WHERE scope_id IN (SELECT id FROM toolwright_scopes WHERE run_id = 'p') ORDER BY key, attempt",
              "approvals WHERE run_id = 'p'",
              "forks WHERE run_id = 'p'",
            ].map((part) => rows(`SELECT * FROM toolwright_${part}`)),
          ),
        ),
    };
  }

  test.each(facesOn(kind.name, "SQLite"))(
    "rule 38: a fork $name that is killed is there as a whole, or not at all",
    async (face) => {
      const { folder, rows, effects, parent } = await openProject();
      const before = await parent();
      let made = 0;
      let killed = 0;
      for (const step of steps(kind.name, face.index)) {
        const isDone = await face.fork(folder, "p", { from: "INSERT INTO toolwright_workflow_runs", step });
        const forks = await rows("SELECT run_id FROM toolwright_forks");
        expect(forks.length - made).toBeLessThanOrEqual(1);
        if (isDone) expect(forks.length - made).toBe(1);
        made = forks.length;
        const count = (table: string) => rows(`SELECT COUNT(*) AS n FROM toolwright_${table}`);
        // One task of two is copied, with its call.
        expect(await count("runs")).toEqual([{ n: 1 + made }]);
        expect(await count("workflow_runs")).toEqual([{ n: 1 + made }]);
        expect(await count("outlines")).toEqual([{ n: 1 + made }]);
        for (const table of ["tasks", "scopes", "calls"])
          expect(await count(table)).toEqual([{ n: 2 + made }]);
        expect(await parent()).toBe(before);
        if (isDone) break;
        killed += 1;
      }
      expect(killed).toBeGreaterThan(1);
      expect(effects()).toHaveLength(2);
      const [fork] = await rows("SELECT run_id FROM toolwright_forks");
      expect(await toolwright(folder, ["resume", String(fork?.["run_id"])])).toMatchObject({ code: 0 });
      expect(effects().map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
        "book hotel",
        "book flight",
        "book flight",
      ]);
      expect(await parent()).toBe(before);
    },
  );

  test.each(facesOn(kind.name, "PostgreSQL"))(
    "rule 39: a revert $name that is killed is completed by the next one",
    async (face) => {
      const { folder, up, effects } = await openProject();
      let killed = 0;
      for (const step of steps(kind.name, face.index + 1)) {
        const runId = step === 0 ? "p" : `r${step}`;
        if (runId !== "p") await up(runId);
        const before = effects().length;
        const isDone = await face.revert(folder, runId, { from: "INSERT INTO toolwright_calls", step });
        expect(await face.revert(folder, runId)).toBe(true);
        const cancelled = effects().slice(before);
        // A repeated request has the same key, so that a service sees one cancellation of each booking.
        expect([...new Set(cancelled)].map((line) => line.split(" ")[1])).toEqual(["flight", "hotel"]);
        expect(cancelled.length).toBeLessThanOrEqual(isDone ? 2 : 3);
        expect(await toolwright(folder, ["resume", runId])).toMatchObject({ code: 1 });
        if (isDone) break;
        killed += 1;
      }
      expect(killed).toBeGreaterThan(1);
    },
  );
});

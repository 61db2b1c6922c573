/** The audit of a soak finds each kind of fault. Here the faults are made by hand, in a ledger and a store that agree. */
import { expect, onTestFinished, test } from "vitest";
import { createRuntime, type Runtime } from "../../src/index.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { change } from "../../src/store/statement.ts";
import { audit } from "./audit.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import type { Job } from "./plan.ts";
import { createTools, place } from "./programs/soak-process.ts";
import { Tally } from "./tally.ts";

const RUN = "script-sqlite-1-1";
const [FIRST, SECOND, DENIED] = [`${RUN}.0`, `${RUN}.1`, `${RUN}.2.deny`] as const;
const job: Job = {
  runId: RUN,
  kind: "script",
  isSteady: false,
  steps: [
    { kind: "blind", sku: FIRST },
    { kind: "keyed", sku: SECOND },
    { kind: "blind", sku: DENIED },
  ],
};

interface World {
  readonly runtime: Runtime;
  readonly ledger: Ledger;
  readonly answered: Set<string>;
  /** Changes the store behind the back of the runtime. */
  readonly tamper: (sql: string) => Promise<void>;
  /** An order that no call made. */
  readonly order: (sku: string) => Promise<void>;
}

/** A job that has ended well. */
async function createWorld(): Promise<World & { readonly tally: Tally }> {
  const tally = new Tally();
  const ledger = await openLedger(tally);
  const runtime = createRuntime({ store: ":memory:" });
  onTestFinished(async () => {
    await runtime.close();
    await ledger[Symbol.asyncDispose]();
  });
  const url = ledger.urlFor("sqlite/script-1/1");
  const tools = createTools(url);
  const answered = new Set<string>();
  const work = async (): Promise<void> => {
    for (const step of job.steps) await place(tools, step);
  };
  await expect(runtime.run({ runId: RUN }, work)).rejects.toMatchObject({ code: "TOOL_APPROVAL_PENDING" });
  for (const { id } of await runtime.approvals({ status: "pending" })) {
    await runtime.resolveToolApproval(id, { approved: false });
    answered.add(id);
  }
  await runtime.run({ runId: RUN }, work);
  const { store } = await hostOf(runtime);
  return {
    runtime,
    ledger,
    answered,
    tally,
    tamper: async (sql) => {
      expect(await store.transaction(() => change(sql), "normal"), sql).toBeGreaterThan(0);
    },
    order: async (sku) => {
      await (await fetch(url, { method: "POST", body: JSON.stringify({ sku, key: null }) })).text();
    },
  };
}

async function auditOf({ runtime, ledger, answered, tally }: World & { tally: Tally }, jobs = [job]) {
  await audit({ store: "sqlite", runtime, jobs, ledger, tally, answered });
  return tally.faults.map(({ kind, about, message }) => `${kind} ${about}: ${message}`);
}

test("finds nothing if the ledger and the store agree", async () => {
  const world = await createWorld();
  expect(await auditOf(world)).toEqual([]);
  expect(world.tally.counts).toMatchObject({ audited: 3, "approvals answered": 1 });
});

const CALL = "UPDATE toolwright_calls SET";
const OF_FIRST = `WHERE input_json LIKE '%"${FIRST}"%'`;

test.each<readonly [string, (world: World) => Promise<void>, string]>([
  ["an order that was placed twice", ({ order }) => order(FIRST), `twice ${FIRST}: was ordered 2 times`],
  [
    "an order without a row",
    ({ tamper }) => tamper(`DELETE FROM toolwright_calls ${OF_FIRST}`),
    `lost ${FIRST}: was ordered, and has no row`,
  ],
  [
    "a call that never ended",
    ({ tamper }) => tamper(`${CALL} status = 'started', output_json = NULL ${OF_FIRST}`),
    `stuck ${FIRST}: has a row that is started`,
  ],
  [
    "a call whose effect is in doubt",
    ({ tamper }) => tamper(`${CALL} status = 'unknown', output_json = NULL ${OF_FIRST}`),
    `stuck ${FIRST}: has a row that is unknown`,
  ],
  [
    "an effect whose row says that it failed",
    ({ tamper }) => tamper(`${CALL} status = 'error', output_json = NULL ${OF_FIRST}`),
    `wrong-row ${FIRST}: was ordered, and its row is error`,
  ],
  [
    "a row with the result of another call",
    ({ tamper }) => tamper(`${CALL} output_json = '{"id":99,"sku":"x","key":null}' ${OF_FIRST}`),
    `wrong-row ${FIRST}: is order 1, and its row says 99`,
  ],
  [
    "an effect that an operator had denied",
    ({ order }) => order(DENIED),
    `unexpected ${DENIED}: was denied, and ordered`,
  ],
  [
    "a denied call whose row says otherwise",
    ({ tamper }) => tamper(`${CALL} status = 'error' WHERE input_json LIKE '%.deny%'`),
    `wrong-row ${DENIED}: was denied, and its row says otherwise`,
  ],
  [
    "an order that no job asked for",
    ({ order }) => order("script-sqlite-9-9.0"),
    "unexpected script-sqlite-9-9.0: was ordered, and no job asked for it",
  ],
  [
    "a run that did not end",
    ({ tamper }) => tamper("UPDATE toolwright_runs SET state = 'queued'"),
    `stuck ${RUN}: is queued at the end`,
  ],
])("finds %s", async (_, breakIt, fault) => {
  const world = await createWorld();
  await breakIt(world);
  expect(await auditOf(world)).toContain(fault);
});

test("finds an order that was never placed", async () => {
  const steps = [...job.steps, { kind: "keyed", sku: `${RUN}.3` } as const];
  expect(await auditOf(await createWorld(), [{ ...job, steps }])).toEqual([
    `lost ${RUN}.3: was never ordered`,
  ]);
});

test("finds a request for approval that no one has answered", async () => {
  const world = await createWorld();
  await world.tamper("UPDATE toolwright_approvals SET status = 'pending'");
  const [id] = world.answered;
  expect(await auditOf(world)).toContain(`open-approval ${id}: no one has answered`);
});

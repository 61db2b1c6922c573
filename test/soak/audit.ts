/** Compares the ledger with the store: every order once, every call accounted for, nothing open. */
import type { Runtime } from "../../src/index.ts";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { all, type Row } from "../../src/store/statement.ts";
import type { Order } from "../crash/shop.ts";
import type { Ledger } from "./ledger.ts";
import { isDenied, type Job, type Step } from "./plan.ts";
import type { Fault, Tally } from "./tally.ts";

export interface AuditOptions {
  readonly store: string;
  readonly runtime: Runtime;
  readonly jobs: readonly Job[];
  readonly ledger: Ledger;
  readonly tally: Tally;
  /** Requests that the approver has answered. */
  readonly answered: ReadonlySet<string>;
}

export async function audit(options: AuditOptions): Promise<void> {
  const { runtime, jobs, store, tally, answered } = options;
  const host = await hostOf(runtime);
  const rows = (sql: string, ...values: string[]): Promise<readonly Row[]> =>
    host.store.read(() => all(sql, ...values));
  for (const job of jobs) {
    const calls = await rows(
      "SELECT node_id, attempt, tool_name, status, input_json, output_json, error_json, key, owner_id FROM _smithers_tool_calls WHERE run_id = ?1",
      job.runId,
    );
    for (const step of job.steps) {
      const own = calls.filter((call) => skuOf(call) === step.sku);
      const problem = problemWith(step, own, options.ledger.ordersOf(step.sku));
      if (problem === undefined) tally.count("audited");
      else tally.fail(await withEvidence(options, job, { ...problem, store, about: step.sku }, own));
    }
  }
  const expected = new Set(jobs.flatMap(({ steps }) => steps.map(({ sku }) => sku)));
  for (const sku of options.ledger.skus.keys())
    if (sku.includes(`-${store}-`) && !expected.has(sku))
      tally.fail({ kind: "unexpected", store, about: sku, message: "was ordered, and no job asked for it" });
  for (const run of await rows("SELECT * FROM toolwright_runs WHERE state <> 'finished'"))
    tally.fail({
      kind: "stuck",
      store,
      about: String(run["id"]),
      message: `is ${String(run["state"])} at the end`,
      evidence: {
        run,
        scopes: await rows("SELECT * FROM toolwright_scopes WHERE run_id = ?1", String(run["id"])),
        owners: await rows("SELECT * FROM toolwright_owners"),
        trace: tally.linesAbout(store, String(run["id"])),
      },
    });
  for (const request of await rows("SELECT * FROM toolwright_approvals")) {
    const { id, status } = request;
    if (status === "pending")
      tally.fail({
        kind: "open-approval",
        store,
        about: String(id),
        message: "no one has answered",
        evidence: request,
      });
    else if (answered.has(String(id))) tally.count("approvals answered");
    // The end of a task voids what it no longer needs.
    else tally.count(`approvals ${String(status)}`);
  }
}

type Problem = Pick<Fault, "kind" | "message">;

function problemWith(step: Step, calls: readonly Row[], orders: readonly Order[]): Problem | undefined {
  const open = calls.find(({ status }) => ["started", "pending", "unknown"].includes(String(status)));
  const last = calls.toSorted((a, b) => Number(a["attempt"]) - Number(b["attempt"])).at(-1);
  if (orders.length > 1) return { kind: "twice", message: `was ordered ${orders.length} times` };
  if (isDenied(step)) {
    if (orders.length > 0) return { kind: "unexpected", message: "was denied, and ordered" };
    return last?.["status"] === "denied"
      ? undefined
      : { kind: "wrong-row", message: "was denied, and its row says otherwise" };
  }
  const [order] = orders;
  if (order === undefined) return { kind: "lost", message: "was never ordered" };
  if (last === undefined) return { kind: "lost", message: "was ordered, and has no row" };
  if (open !== undefined) return { kind: "stuck", message: `has a row that is ${String(open["status"])}` };
  if (last["status"] !== "success")
    return { kind: "wrong-row", message: `was ordered, and its row is ${String(last["status"])}` };
  const output = JSON.parse(String(last["output_json"])) as { id?: unknown };
  return output.id === order.id
    ? undefined
    : { kind: "wrong-row", message: `is order ${order.id}, and its row says ${String(output.id)}` };
}

function skuOf(call: Row): unknown {
  const text = call["input_json"];
  return typeof text === "string" ? (JSON.parse(text) as { sku?: unknown }).sku : undefined;
}

async function withEvidence(
  { runtime, ledger, tally }: AuditOptions,
  { runId }: Job,
  fault: Omit<Fault, "evidence">,
  calls: readonly Row[],
): Promise<Fault> {
  const host = await hostOf(runtime);
  const about = (table: string, column: string): Promise<readonly Row[]> =>
    host.store.read(() => all(`SELECT * FROM ${table} WHERE ${column} = ?1`, runId));
  return {
    ...fault,
    evidence: {
      ledger: ledger.ordersOf(fault.about),
      calls,
      approvals: await about("toolwright_approvals", "run_id"),
      run: await about("toolwright_runs", "id"),
      trace: tally.linesAbout(fault.store, runId),
    },
  };
}

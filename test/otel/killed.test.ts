/** A process is killed in a call. The next one links to its spans, and counts what it does not do again. */
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, runWorkflow } from "toolwright";
import { openTelemetry } from "toolwright/otel";
import { expect, it } from "vitest";
import { linksOf, openSdk, spanNamed, treeOf } from "./harness.ts";
import { createPayment } from "./programs/payment.ts";
import { createWriting } from "./programs/writing.ts";
import { bundled } from "../started-programs.ts";

/** Runs a program that kills itself. */
function runToDeath(name: string, store: string): void {
  const program = bundled(new URL(`./programs/${name}.ts`, import.meta.url));
  const { signal, stderr } = spawnSync(process.execPath, [program, store], {
    encoding: "utf8",
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  expect({ signal, stderr }).toEqual({ signal: "SIGKILL", stderr: "" });
}

it("links over a kill -9", async () => {
  const store = join(mkdtempSync(join(tmpdir(), "otel-")), "app.db");
  runToDeath("pay", store);
  const database = new DatabaseSync(store);
  const read = (sql: string): string[] =>
    database
      .prepare(sql)
      .all()
      .map((row) => String(Object.values(row)[0]).split("-")[2] ?? "");
  const [lostRun] = read("SELECT trace FROM toolwright_runs");
  const [lostCall] = read("SELECT trace FROM toolwright_calls WHERE tool_name = 'charge'");

  const seen = openSdk();
  await using runtime = createRuntime({ store, telemetry: openTelemetry(seen.sdk) });
  let charges = 0;
  const workflow = createPayment(() => (charges += 1));
  const result = await runWorkflow(workflow, { runtime, runId: "w", resume: true });
  expect(result).toMatchObject({ status: "finished", output: "reserved charged" });
  expect(charges).toBe(1);
  expect(treeOf(seen.spans())).toBe("invoke_workflow pay\n  execute_tool charge");
  expect(linksOf(spanNamed(seen.spans(), "invoke_workflow pay"))).toEqual([["resume", lostRun]]);
  expect(linksOf(spanNamed(seen.spans(), "execute_tool charge"))).toEqual([["resume", lostCall]]);
  expect(await seen.points("toolwright.calls.replayed")).toMatchObject([
    { value: 1, attributes: { "gen_ai.tool.name": "reserve" } },
  ]);
  expect(await seen.points("toolwright.calls.unknown")).toMatchObject([
    { value: 1, attributes: { "gen_ai.tool.name": "charge" } },
  ]);
  expect(await seen.points("toolwright.runs.taken_over")).toMatchObject([{ value: 1 }]);
  database.close();
});

it("an agent that is killed in its second attempt is resumed, and retried if it then fails", async () => {
  const store = join(mkdtempSync(join(tmpdir(), "otel-")), "app.db");
  runToDeath("write", store);
  const database = new DatabaseSync(store);
  const trace = database.prepare("SELECT trace FROM toolwright_scopes").get()?.["trace"];
  const lost = String(trace).split("-")[2];
  database.close();

  const seen = openSdk();
  await using runtime = createRuntime({ store, telemetry: openTelemetry(seen.sdk) });
  const workflow = createWriting(async (attempt) => {
    if (attempt === 1) throw new Error("still no idea");
  });
  const result = await runWorkflow(workflow, { runtime, runId: "w", resume: true });
  expect(result.status).toBe("finished");
  const [resumed, retried] = seen.spans().filter(({ name }) => name === "invoke_agent writer");
  expect(resumed?.attributes["toolwright.attempt"]).toBe(2);
  expect(linksOf(resumed as never)).toEqual([["resume", lost]]);
  expect(linksOf(retried as never)).toEqual([["retry", resumed?.context.spanId]]);
});

/** Fork and revert on the page of a run: each shows first what would happen. Effects are counted outside. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  createRuntime,
  createWorkflows,
  defineTool,
  runWorkflow,
  type WorkflowDefinition,
} from "../../src/index.ts";
import { jsx } from "../../src/jsx-runtime.ts";
import { findingsOfAxe } from "./axe.ts";
import { freshStore, openPage, serveStore } from "./browser.ts";

const ledger: string[] = [];
const book = defineTool({
  name: "page_book",
  schema: z.object({ what: z.string() }),
  sideEffect: true,
  idempotent: false,
  acceptsIdempotencyKey: false,
  execute: async ({ what }) => void ledger.push(`book ${what}`),
  revert: async ({ what }) => void ledger.push(`cancel ${what}`),
});
const { Workflow, Task, workflow } = createWorkflows({ output: z.object({}) });
const task = (id: string) => jsx(Task, { id, children: async () => book.execute({ what: id }) });
const trip = workflow(() =>
  jsx(Workflow, { name: "trip", children: [task("hotel"), task("flight")] }),
) as WorkflowDefinition;

test("a run is forked and reverted from its page, after a look at what would happen", async () => {
  ledger.length = 0;
  const store = await freshStore();
  const runtime = createRuntime({ store });
  onTestFinished(() => runtime.close());
  await runWorkflow(trip, { runtime, runId: "t1" });
  const { page, offences } = await openPage(await serveStore(store, { workflows: { trip } }));
  await page.getByRole("link", { name: "t1" }).click();
  await page.getByText("Fork or revert").click();
  await page.getByLabel("Fork from task").selectOption("flight");
  await page.getByRole("button", { name: "Show fork" }).click();
  await page.getByText("Copies 1 task and 1 call. Runs again: flight.").waitFor();
  expect((await runtime.runs()).runs).toHaveLength(1);
  await page.getByRole("button", { name: "Fork run" }).click();
  await page.getByText("Copied 1 task and 1 call.").waitFor();
  expect((await runtime.describeRun("t1")).lineage.forks).toHaveLength(1);
  await page.getByRole("button", { name: "Show revert" }).click();
  await page.getByText("Would be reverted").waitFor();
  expect(ledger).toEqual(["book hotel", "book flight"]);
  expect(await findingsOfAxe(page)).toEqual([]);
  await page.getByRole("button", { name: "Revert run" }).click();
  await page.getByText("Reverted", { exact: true }).waitFor();
  expect(ledger.slice(2)).toEqual(["cancel flight", "cancel hotel"]);
  await page.getByRole("cell", { name: "revert", exact: true }).nth(1).waitFor();
  expect(offences).toEqual([]);
});

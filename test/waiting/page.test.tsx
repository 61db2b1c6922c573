/** Schedules, workers and signals on the page, in a real browser. */
import {
  createRuntime,
  createWorker,
  createWorkflows,
  runWorkflow,
  type WorkflowDefinition,
} from "toolwright";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { findingsOfAxe } from "../ui/axe.ts";
import { freshStore, openPage, serveStore } from "../ui/browser.ts";
import { until } from "../workflow/harness.ts";

const { Workflow, Signal, workflow } = createWorkflows({ output: z.object({}) });
const patient = workflow(() => (
  <Workflow name="patient">
    <Signal id="paid" name="payment" schema={z.object({ amount: z.number() })} />
  </Workflow>
)) as WorkflowDefinition;

test("a signal is sent from the page of the run, and a worker continues it", async () => {
  const store = await freshStore();
  const runtime = createRuntime({ store });
  const worker = createWorker({ runtime, workflows: { patient } });
  onTestFinished(() => runtime.close());
  onTestFinished(() => worker.drain());
  await runWorkflow(patient, { runtime, runId: "order-17" });
  await runtime.schedules.set({
    name: "nightly",
    workflow: "patient",
    cron: "0 3 * * *",
    tz: "Europe/Berlin",
  });
  await runtime.schedules.set({ name: "poll", workflow: "patient", everyMs: 3_600_000 });
  await runtime.schedules.pause("poll");
  const { page, offences } = await openPage(await serveStore(store));
  await page.getByText('It waits for the signal "payment".').waitFor();
  await page.getByRole("link", { name: "order-17" }).click();
  const form = page.getByRole("article", { name: "Signal payment" });
  await form.getByLabel("Payload (JSON)").fill('{"amount":"much"}');
  await form.getByRole("button", { name: "Send signal" }).click();
  await form.getByText("The signal was refused").waitFor();
  expect(await findingsOfAxe(page)).toEqual([]);
  await worker.start();
  await form.getByLabel("Payload (JSON)").fill('{"amount":5}');
  await form.getByRole("button", { name: "Send signal" }).click();
  await until(async () => (await runtime.describeRun("order-17")).status === "finished");
  await page.getByText("finished", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: "Schedules" }).click();
  await page.getByRole("heading", { name: "Schedules" }).waitFor();
  const nightly = page.getByRole("listitem").filter({ hasText: "nightly" });
  await nightly.getByText("0 3 * * * (Europe/Berlin)").waitFor();
  await nightly.getByText(/Next run in/).waitFor();
  await page.getByRole("listitem").filter({ hasText: "poll" }).getByText("paused").waitFor();
  expect(await findingsOfAxe(page)).toEqual([]);
  await page.getByRole("link", { name: "Workers" }).click();
  await page.getByRole("listitem").filter({ hasText: "patient" }).getByText("active").waitFor();
  expect(await findingsOfAxe(page)).toEqual([]);
  // A refused signal is a response with an error status, which the browser reports.
  expect(offences.filter((text) => !text.includes("422"))).toEqual([]);
});

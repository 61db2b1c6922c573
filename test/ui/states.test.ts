/** What the page shows when something is wrong, or when its reader lacks permissions. */
import { copyFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createRuntime, createSmithers, defineTool, type Runtime, runWorkflow } from "../../src/index.ts";
import { jsx } from "../../src/jsx-runtime.ts";
import { freshStore, openPage, serveStore } from "./browser.ts";

const pay = defineTool({
  name: "pay",
  schema: z.object({ amount: z.number() }),
  sideEffect: true,
  idempotent: true,
  needsApproval: true,
  approvalPrompt: "Pay it?",
  execute: async ({ amount }) => ({ paid: amount }),
});
const echo = defineTool({
  name: "echo",
  schema: z.object({ text: z.string() }),
  execute: async ({ text }) => ({ text }),
});

function open(store: string): Runtime {
  const runtime = createRuntime({ store });
  onTestFinished(() => runtime.close());
  return runtime;
}

test("a damaged store is named on the page, and the runs return once it is repaired", async () => {
  const store = await freshStore();
  const runtime = open(store);
  await runtime.call(echo, { text: "x" }, { runId: "there" });
  await runtime.close();
  copyFileSync(store, `${store}.copy`);
  writeFileSync(store, "This is no database. ".repeat(500));
  const { page } = await openPage(await serveStore(store));
  const alert = page.getByRole("alert");
  await alert.getByText("The list cannot be read").waitFor();
  expect(await alert.textContent()).toMatch(/damaged|not a database/i);
  copyFileSync(`${store}.copy`, store);
  await page.getByRole("link", { name: "there" }).waitFor();
  expect(await alert.count()).toBe(0);
});

test("a store of a newer version is named on the page", async () => {
  const store = await freshStore();
  const runtime = open(store);
  await runtime.call(echo, { text: "x" }, { runId: "there" });
  await runtime.close();
  const database = new DatabaseSync(store);
  database.exec("UPDATE toolwright_meta SET value = '9999' WHERE name = 'version'");
  database.close();
  const { page } = await openPage(await serveStore(store));
  await page
    .getByRole("alert")
    .getByText(/newer|version/i)
    .first()
    .waitFor();
});

test("the page reports that its server has ended, and keeps what was seen last", async () => {
  const store = await freshStore();
  await open(store).call(echo, { text: "x" }, { runId: "there" });
  const server = await serveStore(store);
  const { page } = await openPage(server);
  await page.getByText("Live", { exact: true }).waitFor();
  await server.close();
  await page.getByRole("status").getByText("Reconnecting").waitFor();
  await page.getByRole("alert").getByText("The server does not answer.").waitFor();
  await page.getByRole("link", { name: "there" }).waitFor();
});

test("a reader without the scopes sees the request and no buttons", async () => {
  const store = await freshStore();
  await open(store).call(pay, { amount: 20 }, { runId: "p1" });
  const { page } = await openPage(await serveStore(store, { readOnly: true }));
  await page.getByText("read-only").waitFor();
  await page.getByRole("link", { name: "Approvals 1 pending" }).waitFor();
  await page.getByRole("link", { name: "p1" }).click();
  await page.getByText("Pay it?").first().waitFor();
  await page.getByText("You may read this request, but not decide it.").waitFor();
  for (const name of ["Approve", "Deny", "Cancel run"])
    expect(await page.getByRole("button", { name }).count(), name).toBe(0);
});

test("the panel of a call shows its approval: who decided, and what", async () => {
  const store = await freshStore();
  const runtime = open(store);
  await runtime.call(pay, { amount: 20 }, { runId: "p2" });
  const [request] = await runtime.approvals({ runId: "p2" });
  const decision = { approved: true, decidedBy: "Grace", comment: "fine" };
  await runtime.resolveToolApproval(request?.id ?? "", decision);
  await runtime.call(pay, { amount: 20 }, { runId: "p2" });
  const { page, offences } = await openPage(await serveStore(store));
  await page.getByRole("link", { name: "p2" }).click();
  await page.getByRole("table", { name: "Calls" }).getByRole("button", { name: "pay" }).click();
  await page
    .getByRole("region", { name: "pay" })
    .getByText(/approved by Grace, .*: fine/)
    .waitFor();
  expect(offences).toEqual([]);
});

test("the tree of a workflow follows its tasks, and the arrow keys move through it", async () => {
  const store = await freshStore();
  const runtime = open(store);
  const { Workflow, Task, Parallel, Loop, smithers, outputs } = createSmithers(
    { input: z.object({ topic: z.string() }), out: z.number() },
    { dbPath: ":memory:" },
  );
  const isSeen = Promise.withResolvers<number>();
  const evil = "<b onclick=alert(1)>{{7*7}}";
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: evil,
      children: [
        jsx(Parallel, {
          children: [
            jsx(Task, { id: "first", output: outputs.out, children: 1 }),
            jsx(Task, { id: "second", output: outputs.out, children: () => isSeen.promise }),
          ],
        }),
        jsx(Loop, {
          id: "twice",
          until: false,
          maxIterations: 2,
          children: jsx(Task, {
            id: "third",
            output: outputs.out,
            children: () => echo.call({ text: "x" }).then(() => 3),
          }),
        }),
      ],
    }),
  );
  const ended = runWorkflow(workflow, { runId: "w", runtime, input: { topic: "apples" } });
  const { page, offences } = await openPage(await serveStore(store));
  await page.getByRole("link", { name: "w", exact: true }).click();
  const tree = page.getByRole("tree", { name: "Tasks" });
  await tree.getByRole("treeitem", { name: /second running/ }).waitFor();
  await tree.getByRole("treeitem", { name: /third pending/ }).waitFor();
  isSeen.resolve(2);
  await ended;
  await tree.getByRole("treeitem", { name: /twice 2 of 2 finished/ }).waitFor();
  await tree.getByRole("treeitem").first().focus();
  await page.keyboard.press("ArrowLeft");
  await tree.getByRole("treeitem", { name: /second/ }).waitFor({ state: "detached" });
  await page.keyboard.press("ArrowRight");
  await tree.getByRole("treeitem", { name: /second/ }).waitFor();
  await page.keyboard.press("End");
  expect(await page.evaluate("document.activeElement.textContent")).toContain("third (pass 2)");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "third (pass 2)" }).getByLabel("Output").getByText("3").waitFor();
  await page.keyboard.press("Escape");
  expect(await page.evaluate("document.activeElement.textContent")).toContain("third (pass 2)");
  const values = page.getByRole("region", { name: "Input and output" });
  await values.getByLabel("Input").getByText('"topic": "apples"').waitFor();
  await values.getByLabel("Output").getByText("3").waitFor();
  await page.getByRole("table", { name: "Calls" }).getByRole("cell", { name: "third (pass 2)" }).waitFor();
  expect(await page.locator("main b").count()).toBe(0);
  expect(offences).toEqual([]);
});

test("a run of a workflow that only this server knows is approved and resumed on its page", async () => {
  const store = await freshStore();
  const { Workflow, Approval, Task, smithers, outputs } = createSmithers(
    { out: z.number() },
    { dbPath: ":memory:" },
  );
  const order = smithers(() =>
    jsx(Workflow, {
      name: "order",
      children: [
        jsx(Approval, { id: "ship", prompt: "Ship it?" }),
        jsx(Task, { id: "shipped", output: outputs.out, children: 1 }),
      ],
    }),
  );
  await runWorkflow(order, { runId: "o1", runtime: open(store) });
  const { page, offences } = await openPage(await serveStore(store, { workflows: { order } }));
  await page.getByRole("link", { name: "o1", exact: true }).click();
  const status = page.getByRole("status");
  await status.getByText("waiting-approval").waitFor();
  expect(await page.getByRole("button", { name: "Resume run" }).count()).toBe(0);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("button", { name: "Resume run" }).click();
  await status.getByText("finished").waitFor();
  expect(await page.getByRole("button", { name: "Resume run" }).count()).toBe(0);
  expect(offences).toEqual([]);
});

test("a run can be resumed on its page when that helps: queued without a worker, not while it waits", async () => {
  const store = await freshStore();
  const { Workflow, Signal, smithers } = createSmithers({ go: z.object({}) }, { dbPath: ":memory:" });
  const patient = smithers(() =>
    jsx(Workflow, { name: "patient", children: jsx(Signal, { id: "wait", name: "go" }) }),
  );
  const runtime = open(store);
  await runtime.enqueue("patient", { runId: "q1" });
  const { page, offences } = await openPage(await serveStore(store, { workflows: { patient } }));
  await page.getByRole("link", { name: "q1" }).click();
  await page.getByRole("button", { name: "Resume run" }).click();
  const status = page.getByRole("status");
  await status.getByText("waiting-signal").waitFor();
  await page.getByText("On the command line").click();
  await page.getByText(/toolwright signal q1 go/).waitFor();
  expect(await page.getByRole("button", { name: "Resume run" }).count()).toBe(0);
  await page.getByRole("button", { name: "Send signal" }).click();
  await page.getByRole("button", { name: "Resume run" }).click();
  await status.getByText("finished").waitFor();
  expect(offences).toEqual([]);
});

test("an interrupted effect whose tool promises an output asks for it before it happened", async () => {
  const store = await freshStore();
  const runtime = open(store);
  await runtime.call(pay, { amount: 20 }, { runId: "cut" });
  const [request] = await runtime.approvals({ runId: "cut" });
  const server = await serveStore(store);
  const { page } = await openPage(server);
  // The server would send such a row after a crash; the form is the same.
  const replay = {
    ...request,
    kind: "replay",
    schema: null,
    outputSchema: { type: "object", properties: { receipt: { type: "string" } }, required: ["receipt"] },
    expiresAtMs: null,
    decidedAtMs: null,
    decidedBy: null,
    comment: null,
  };
  await page.route("**/api/v1/approvals?**", (route) =>
    route.fulfill({ json: { approvals: [replay], total: 1 } }),
  );
  const sent: unknown[] = [];
  await page.route("**/decision", (route) => {
    sent.push(route.request().postDataJSON());
    return route.abort();
  });
  await page.getByRole("link", { name: "Approvals" }).click();
  await page.getByRole("button", { name: "It happened" }).click();
  await page.getByText("Enter the result first").waitFor();
  await page.getByLabel("Result as JSON, if it happened").fill('{"receipt": 7}');
  await page.getByText("receipt must be a string, not a number.").waitFor();
  await page.getByLabel("Result as JSON, if it happened").fill('{"receipt": "r-7"}');
  await page.getByRole("button", { name: "It happened" }).click();
  await expect.poll(() => sent).toMatchObject([{ resolution: "happened", output: { receipt: "r-7" } }]);
});

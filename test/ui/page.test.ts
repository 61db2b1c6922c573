/** The page in a real browser: runs, a run, its calls and approvals, live, by keyboard, on small and dark screens. */
import { findingsOfAxe } from "./axe.ts";
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool, type Runtime } from "../../src/index.ts";
import { freshStore, openPage, serveStore } from "./browser.ts";
import { startWatched } from "./watched-program.ts";

const pay = defineTool({
  name: "pay",
  schema: z.object({ amount: z.number().max(100), to: z.string() }),
  sideEffect: true,
  idempotent: true,
  needsApproval: true,
  execute: async ({ amount, to }) => ({ paid: amount, to }),
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

async function requestPayment(store: string, runId: string, amount = 20): Promise<Runtime> {
  const runtime = open(store);
  const outcome = await runtime.call(pay, { amount, to: "Ada" }, { runId });
  expect(outcome.status).toBe("pending");
  return runtime;
}

describe("the list of runs", () => {
  test("shows a run of another process when it begins, and its end, without a reload", async () => {
    const store = await freshStore();
    const { page, offences } = await openPage(await serveStore(store));
    await page.getByText("There are no runs yet.").waitFor();
    const program = startWatched(store, "order-17");
    await program.send("call one");
    await page.getByRole("link", { name: "order-17" }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "running" }).waitFor();
    await program.end();
    await page.getByRole("listitem").filter({ hasText: "finished" }).waitFor();
    expect(offences).toEqual([]);
  });

  test("keeps filters in the address, so that a link to it shows the same", async () => {
    const store = await freshStore();
    const runtime = open(store);
    await runtime.call(echo, { text: "a" }, { runId: "apple" });
    await runtime.call(echo, { text: "b" }, { runId: "banana" });
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "banana" }).waitFor();
    await page.getByLabel("Search").fill("apple");
    await page.getByRole("link", { name: "banana" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("q")).toBe("apple");
    await page.reload();
    await page.getByRole("link", { name: "apple" }).waitFor();
    expect(await page.getByRole("link", { name: "banana" }).count()).toBe(0);
    await page.getByLabel("Status").selectOption("failed");
    await page.getByText("No run matches these filters.").waitFor();
  });

  test("has pages", async () => {
    const store = await freshStore();
    const runtime = open(store);
    for (let index = 0; index < 60; index += 1)
      await runtime.call(echo, { text: "x" }, { runId: `run-${index}` });
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "run-59", exact: true }).waitFor();
    await page.getByRole("link", { name: "Older runs" }).click();
    await page.getByRole("link", { name: "run-0", exact: true }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "run-59", exact: true }).waitFor();
  });
});

describe("the page of a run", () => {
  test("shows calls of another process as they happen, and says why the run waits", async () => {
    const store = await freshStore();
    const server = await serveStore(store);
    const program = startWatched(store, "live");
    await program.send("call first");
    const { page, offences } = await openPage(server);
    await page.getByRole("link", { name: "live" }).click();
    const table = page.getByRole("table", { name: "Calls" });
    await table.getByText("first").first().waitFor();
    await program.send("call second");
    await table.getByText("second").first().waitFor();
    await table.getByRole("button", { name: "note" }).first().click();
    await page.getByRole("region", { name: "note" }).getByText('"noted": "second"').waitFor();
    await program.kill();
    await page.getByText("interrupted").first().waitFor();
    expect(offences).toEqual([]);
  });

  test(
    "of 10,000 calls scrolls to the first one with few rows in the document",
    { timeout: 120_000 },
    async () => {
      const store = await freshStore();
      const runtime = open(store);
      await runtime.run({ runId: "long" }, async () => {
        for (let from = 0; from < 10_000; from += 500) {
          await Promise.all(
            Array.from({ length: 500 }, (_, index) => runtime.call(echo, { text: `n${from + index}` })),
          );
        }
      });
      const { page } = await openPage(await serveStore(store));
      await page.getByRole("link", { name: "long" }).click();
      await page.getByText("10,000 calls, newest first").waitFor();
      const box = page.getByRole("region", { name: "Calls, scrollable" });
      await box.evaluate((element: { scrollTop: number; scrollHeight: number }) => {
        element.scrollTop = element.scrollHeight;
      });
      const table = page.getByRole("table", { name: "Calls" });
      await table.getByText('{"text":"n0"}', { exact: true }).first().waitFor({ timeout: 90_000 });
      expect(await page.getByRole("row").count()).toBeLessThan(100);
    },
  );

  test("shows an output of 50 MB piece by piece", async () => {
    const store = await freshStore();
    const runtime = open(store);
    const big = defineTool({
      name: "big",
      schema: z.object({}),
      execute: async () => "z".repeat(50_000_000),
    });
    await runtime.call(big, {}, { runId: "big" });
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "big" }).click();
    await page.getByRole("button", { name: "big" }).click();
    await page.getByRole("button", { name: /^Show more \(.* of 50,000,00. characters\)$/ }).waitFor();
  });

  test("that was deleted meanwhile shows that, and keeps what was seen", async () => {
    const store = await freshStore();
    const runtime = open(store);
    await runtime.run({ runId: "old" }, () => runtime.call(echo, { text: "kept" }));
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "old" }).click();
    await page.getByRole("table", { name: "Calls" }).getByText("kept").first().waitFor();
    await runtime.gc({ olderThanMs: 0 });
    await page.getByRole("alert").getByText("This run does not exist").waitFor();
    await page.getByText("The run was deleted.").waitFor();
    await page.goto(page.url());
    await page.getByRole("alert").getByText("This run does not exist").waitFor();
  });

  test("cancels a run after a second question", async () => {
    const store = await freshStore();
    const runtime = await requestPayment(store, "waits");
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "waits" }).click();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByRole("button", { name: "Yes, cancel it" }).click();
    await expect.poll(async () => (await runtime.describeRun("waits")).status).toBe("cancelled");
  });
});

describe("an approval", () => {
  test("is approved from the page, as a decision of the browser", async () => {
    const store = await freshStore();
    const runtime = await requestPayment(store, "p1");
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "p1" }).click();
    await page.getByLabel("Comment (optional)").fill("fine");
    await page.getByRole("button", { name: "Approve" }).click();
    await page
      .getByText(/approved by browser/)
      .first()
      .waitFor();
    expect(await runtime.approvals({ runId: "p1" })).toMatchObject([
      { status: "approved", decidedBy: "browser", comment: "fine" },
    ]);
    expect(await runtime.call(pay, { amount: 20, to: "Ada" }, { runId: "p1" })).toMatchObject({
      output: { paid: 20 },
    });
  });

  test("takes edited arguments that fit the schema, and shows the change", async () => {
    const store = await freshStore();
    const runtime = await requestPayment(store, "p2", 50);
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "Approvals" }).click();
    await page.getByRole("button", { name: "Edit arguments" }).click();
    const field = page.getByRole("textbox", { name: "Arguments" });
    await field.fill("{");
    await page.getByText("This is not valid JSON").waitFor();
    await field.fill('{"amount": 500, "to": "Ada"}');
    await page.getByText("amount must be at most 100.").waitFor();
    expect(await page.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
    // The lines of the value are compared, however it is written.
    await field.fill('{"amount": 5, "to": "Ada"}');
    const change = page.getByLabel("Your change");
    await change.getByText('-   "amount": 50,').waitFor();
    expect(await change.locator(".added").allTextContents()).toEqual(['+   "amount": 5,\n']);
    await page.getByRole("button", { name: "Approve" }).click();
    await page
      .getByText(/approved by browser/)
      .first()
      .waitFor();
    await page.getByLabel("Edited arguments").getByText('+   "amount": 5,').waitFor();
    expect(await runtime.call(pay, { amount: 50, to: "Ada" }, { runId: "p2" })).toMatchObject({
      output: { paid: 5 },
    });
  });

  test("that another tab has decided is refused, with who decided and what", async () => {
    const store = await freshStore();
    const runtime = await requestPayment(store, "p3");
    const server = await serveStore(store);
    const { page } = await openPage(server);
    await page.getByRole("link", { name: "p3" }).click();
    await page.getByRole("button", { name: "Deny" }).waitFor();
    // The form is open, and its event stream is cut: it does not learn of the decision.
    await page.route("**/api/v1/events**", (route) => route.abort());
    await page.evaluate("window.stop()");
    const [request] = await runtime.approvals({ runId: "p3" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: false, decidedBy: "Grace" });
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("alert").getByText(/Grace/).waitFor();
    expect(await runtime.approvals({ runId: "p3" })).toMatchObject([
      { status: "denied", decidedBy: "Grace" },
    ]);
  });

  test("that one tab decides is settled in the other", async () => {
    const store = await freshStore();
    await requestPayment(store, "p4");
    const server = await serveStore(store);
    const [one, other] = [await openPage(server), await openPage(server)];
    for (const { page } of [one, other]) await page.getByRole("link", { name: "p4" }).click();
    await other.page.getByRole("button", { name: "Deny" }).waitFor();
    await one.page.getByRole("button", { name: "Deny" }).click();
    await other.page.getByRole("button", { name: "Deny" }).waitFor({ state: "detached" });
    await other.page.getByText(/denied by browser/).waitFor();
  });

  test.each([
    ["It happened", { status: "approved" }],
    ["Run it again", { status: "approved" }],
    ["Give up", { status: "denied" }],
  ])("of an interrupted effect has the answer %s", async (name, decision) => {
    const store = await freshStore();
    const program = startWatched(store, "cut");
    await program.send("hang");
    await program.kill();
    const charge = defineTool({
      name: "charge",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      execute: async () => "charged",
    });
    const runtime = open(store);
    const outcome = await runtime.run({ runId: "cut" }, () => runtime.call(charge, { amount: 7 }));
    expect(outcome.status).toBe("pending");
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "cut" }).click();
    await page.getByRole("button", { name }).click();
    await expect.poll(() => runtime.approvals({ runId: "cut" })).toMatchObject([decision]);
    await page.getByText(`answered "${name}" by browser`).first().waitFor();
  });
});

describe("what runs and tools produced", () => {
  test("is text on the page, whatever it contains", async () => {
    const store = await freshStore();
    const runtime = open(store);
    const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"'>`;
    const tool = defineTool({
      name: "evil",
      schema: z.object({ text: z.string() }),
      needsApproval: true,
      execute: async ({ text }) => ({ text }),
    });
    await runtime.run({ runId: evil, name: evil, labels: { evil } }, async () => {
      await runtime.call(echo, { text: evil });
      await runtime.call(tool, { text: evil });
    });
    const { page, offences } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: evil, exact: true }).click();
    await page.getByRole("table", { name: "Calls" }).getByRole("button", { name: "echo" }).click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("img").count()).toBe(0);
    expect(offences).toEqual([]);
  });
});

describe("characters that reorder or hide text", () => {
  test("are shown as escapes in names, ids and arguments, so that an approver sees what will run", async () => {
    const store = await freshStore();
    const runtime = open(store);
    const hidden = "pay \u202Eecila\u202C \u200B\u{E0041}bob";
    const tool = defineTool({
      name: hidden,
      schema: z.object({ text: z.string() }),
      needsApproval: true,
      approvalPrompt: () => hidden,
      execute: async ({ text }) => ({ text }),
    });
    await runtime.run({ runId: hidden, name: hidden, labels: { hidden } }, () =>
      runtime.call(tool, { text: hidden }),
    );
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "pay \\u202eecila" }).first().click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    const titled = await page.locator("[title], [aria-label]").all();
    const values = await Promise.all(
      titled.flatMap((one) => [one.getAttribute("title"), one.getAttribute("aria-label")]),
    );
    const attributes = values.join(" ");
    expect(attributes).toContain("\\u202eecila");
    const shown = `${await page.locator("body").innerText()} ${await page.title()} ${attributes}`;
    expect(shown).toContain("\\u202eecila");
    expect(shown).not.toMatch(/[\u200B-\u200F\u202A-\u202E\u{E0000}-\u{E007F}]/u);
    const raw = await (await page.request.get(new URL("/api/v1/approvals", page.url()).href)).text();
    expect(raw).not.toMatch(/[\u0080-\u009F\u200B-\u200F\u202A-\u202E]/);
    expect(JSON.parse(raw)).toMatchObject({ approvals: [{ prompt: hidden, args: { text: hidden } }] });
    await page.getByRole("button", { name: "Approve" }).click();
    await expect.poll(() => runtime.approvals({ runId: hidden })).toMatchObject([{ status: "approved" }]);
  });
});

describe("a store that fails", () => {
  test("is reported, and the page is live again once the store is back", async () => {
    const store = await freshStore();
    const runtime = open(store);
    await runtime.call(echo, { text: "x" }, { runId: "there" });
    await runtime.close();
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "there" }).waitFor();
    renameSync(store, `${store}.aside`);
    await page.reload();
    await page.getByRole("alert").waitFor();
    renameSync(`${store}.aside`, store);
    await page.getByRole("link", { name: "there" }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
  });
});

describe("everybody can use it", () => {
  test("by keyboard alone: from the list to a decision", async () => {
    const store = await freshStore();
    const runtime = await requestPayment(store, "keys");
    const { page } = await openPage(await serveStore(store));
    await page.getByRole("link", { name: "keys" }).waitFor();
    const tabTo = async (name: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press("Tab");
        const text = await page.evaluate("document.activeElement?.textContent ?? ''");
        if (text === name) return;
      }
      throw new Error(`${name} cannot be reached with Tab`);
    };
    await tabTo("keys");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Deny" }).waitFor();
    await tabTo("Deny");
    await page.keyboard.press("Enter");
    await expect.poll(() => runtime.approvals({ runId: "keys" })).toMatchObject([{ status: "denied" }]);
  });

  test.each([
    ["light", 1_200],
    ["dark", 1_200],
    ["light", 360],
    ["dark", 360],
  ] as const)(
    "with %s colors, %i px wide: no finding of axe, and no sideways scrolling",
    async (colorScheme, width) => {
      const store = await freshStore();
      const runtime = await requestPayment(store, `a-${"long-".repeat(12)}id`);
      await runtime.run({ runId: "program" }, () => runtime.call(echo, { text: "x".repeat(500) }));
      const { page } = await openPage(await serveStore(store), {
        colorScheme,
        viewport: { width, height: 800 },
      });
      const check = async (what: string): Promise<void> => {
        expect(await findingsOfAxe(page), what).toEqual([]);
        const extra = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        expect(extra, `${what} is wider than the window`).toBeLessThanOrEqual(0);
      };
      await page.getByRole("link", { name: "program" }).waitFor();
      await check("the list");
      await page.getByRole("link", { name: "program" }).click();
      await page.getByRole("button", { name: "echo" }).click();
      await page.getByRole("region", { name: "echo" }).waitFor();
      await check("a run");
      await page.getByRole("link", { name: "Approvals" }).click();
      await page.getByRole("button", { name: "Edit arguments" }).click();
      await check("the approvals");
    },
  );
});

test("all files of the page together are at most 60 kB, compressed", () => {
  const folder = new URL("../../dist/ui/", import.meta.url);
  const bytes = readdirSync(folder).reduce(
    (sum, name) => sum + gzipSync(readFileSync(new URL(name, folder))).length,
    0,
  );
  expect(bytes).toBeLessThanOrEqual(60_000);
});

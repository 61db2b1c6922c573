/** The page of the template `chat` in a real browser, with the AI SDK's own `useChat`: every part once, the final text right. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { findBrowser } from "../../scripts/find-browser.ts";
import { createFolder, until } from "../workflow/harness.ts";
import type { PageCommand } from "./programs/page-server.ts";

vi.setConfig({ testTimeout: 120_000 });

const PROGRAM = join(import.meta.dirname, "programs/page-server.ts");

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] });
});
afterAll(() => browser.close());

class Server {
  readonly url: string;
  readonly #child: ChildProcess;
  #asked = 0;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    child.on("message", (message) => (this.#asked += message === "asked" ? 1 : 0));
  }

  static async start(folder: string, port = "0"): Promise<Server> {
    const child = fork(PROGRAM, [join(folder, "chat.db"), folder, port], { execArgv: [] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [url] = (await once(child, "message")) as [string];
    return new Server(child, url);
  }

  /** The model was asked for its response of this number, from 1. */
  async asked(number: number): Promise<void> {
    await until(() => this.#asked >= number, 10);
  }

  get requests(): number {
    return this.#asked;
  }

  send(command: PageCommand): void {
    this.#child.send(command);
  }

  async kill(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}

async function openContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return context;
}

async function openTab(context: BrowserContext, server: Server): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(server.url);
  await page.getByLabel("Message").waitFor();
  return page;
}

async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.getByLabel("Message").press("Enter");
}

/** Every paragraph of every message, in order. */
async function shows(page: Page, ...paragraphs: string[]): Promise<void> {
  const isShown = async (): Promise<boolean> => {
    const texts = await page.locator("article p").allInnerTexts();
    return JSON.stringify(texts.map((text) => text.trim())) === JSON.stringify(paragraphs);
  };
  const end = performance.now() + 30_000;
  await until(async () => (await isShown()) || performance.now() > end, 20);
  expect((await page.locator("article p").allInnerTexts()).map((text) => text.trim())).toEqual(paragraphs);
}

async function isReady(page: Page): Promise<void> {
  await page.locator('main[data-status="ready"]').waitFor();
}

test("a reload in the middle, a second tab, and a stop: all show the same, once", async () => {
  const server = await Server.start(createFolder());
  const context = await openContext();
  const page = await openTab(context, server);
  await write(page, "Hello");
  await server.asked(1);
  server.send({ say: "One " });
  await shows(page, "Hello", "One");
  await page.reload();
  await shows(page, "Hello", "One");
  const second = await openTab(context, server);
  await shows(second, "Hello", "One");
  server.send({ say: "two " });
  await shows(page, "Hello", "One two");
  server.send({ say: "three.", end: "stop" });
  for (const tab of [page, second]) {
    await shows(tab, "Hello", "One two three.");
    await isReady(tab);
  }
  expect(server.requests).toBe(1);
  // What has ended is there after a reload, too.
  await page.reload();
  await shows(page, "Hello", "One two three.");

  await write(page, "And now?");
  await server.asked(2);
  server.send({ say: "Four" });
  await shows(page, "Hello", "One two three.", "And now?", "Four");
  await second.reload();
  await shows(second, "Hello", "One two three.", "And now?", "Four");
  // From the other tab: the turn stops for both, and what was said stays.
  await second.getByRole("button", { name: "Stop" }).click();
  for (const tab of [page, second]) {
    await isReady(tab);
    await shows(tab, "Hello", "One two three.", "And now?", "Four");
  }
  await write(page, "Still there?");
  await server.asked(3);
  server.send({ say: "Yes.", end: "stop" });
  await shows(page, "Hello", "One two three.", "And now?", "Four", "Still there?", "Yes.");
});

test("kill -9 in the middle of an answer, and an approval in two tabs across it: one order", async () => {
  const folder = createFolder();
  const first = await Server.start(folder);
  const context = await openContext();
  const page = await openTab(context, first);
  await write(page, "Order 50 pears");
  await first.asked(1);
  first.send({ say: "Shall I?", call: 50, end: "tool-calls" });
  const approve = (tab: Page) => tab.getByRole("button", { name: "Approve" });
  await approve(page).waitFor();
  const call = 'place_order {"item":"pear","quantity":50}';
  await page.reload();
  await approve(page).waitFor();
  const second = await openTab(context, first);
  await approve(second).waitFor();
  await approve(page).click();
  await first.asked(2);
  first.send({ say: "Ord" });
  await shows(page, "Order 50 pears", "Shall I?", `${call} output-available`, "Ord");
  await first.kill();
  await page.getByRole("alert").waitFor();

  const server = await Server.start(folder, new URL(first.url).port);
  await page.getByRole("button", { name: "Continue" }).click();
  await server.asked(1);
  server.send({ say: "Ordered.", end: "stop" });
  await shows(page, "Order 50 pears", "Shall I?", `${call} output-available`, "Ordered.");
  await isReady(page);
  // The same decision in the other tab orders nothing, and shows the same.
  await approve(second).click();
  await shows(second, "Order 50 pears", "Shall I?", `${call} output-available`, "Ordered.");
  expect(server.requests).toBe(1);
  expect(readFileSync(join(folder, "orders.txt"), "utf8").trim().split("\n")).toHaveLength(1);
});

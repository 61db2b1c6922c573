/** A real browser for tests of the page: Debian's headless Chromium, which `npm run setup` installs. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";
import { findBrowser } from "../../scripts/find-browser.ts";
import { serve, type ServeOptions, type ToolwrightServer } from "../../src/server/index.ts";
import { STORE_KINDS } from "../store-kinds.ts";

let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

export interface OpenPage {
  readonly page: Page;
  /** Requests to other hosts, and errors of scripts. */
  readonly offences: readonly string[];
}

export async function openPage(
  server: ToolwrightServer,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  browser ??= chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] });
  const context = await (await browser).newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const offences: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url)) offences.push(`request to ${request.url()}`);
  });
  page.on("pageerror", (error) => offences.push(`script error: ${error.message}`));
  page.on("console", (message) => {
    // Refused requests are logged by the browser itself; the page shows them.
    if (message.type() === "error" && !message.text().includes("Failed to load resource"))
      offences.push(`console: ${message.text()}`);
  });
  await page.goto(await signInUrl(server));
  return { page, offences };
}

const used = new WeakSet<ToolwrightServer>();

/** Each link works once, so every tab but the first needs a new one. */
async function signInUrl(server: ToolwrightServer): Promise<string> {
  if (!used.has(server)) {
    used.add(server);
    return server.signInUrl;
  }
  const response = await fetch(`${server.url}/api/v1/sign-in-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body: "{}",
  });
  return ((await response.json()) as { signInUrl: string }).signInUrl;
}

export async function freshStore(): Promise<string> {
  const [sqlite] = STORE_KINDS;
  const store = await sqlite.fresh();
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store.address;
}

export async function serveStore(
  store: string,
  options: Partial<ServeOptions> = {},
): Promise<ToolwrightServer> {
  const server = await serve({ store, port: 0, ...options });
  onTestFinished(() => server.close());
  return server;
}

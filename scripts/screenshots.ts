/**
 * Takes the screenshots of the guide with real runs: npm run screenshots. They are made by this script only, so that they
 * show what the page shows.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { createRuntime, defineTool } from "toolwright";
import { serve } from "toolwright/server";
import { z } from "zod";
import { openShop } from "../examples/demo/shop.ts";
import { findBrowser } from "./find-browser.ts";

const images = fileURLToPath(new URL("../docs/images/", import.meta.url));
const cli = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const order = fileURLToPath(new URL("../examples/durable-order/order.tsx", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "toolwright-screenshots-"));
const store = join(folder, "shop.db");
const shop = await openShop();

/** Not spawnSync: the shop answers from this process. */
async function startOrder(orderNumber: string, item: string, quantity: number): Promise<void> {
  const input = JSON.stringify({ orderNumber, item, quantity });
  const command = spawn(
    process.execPath,
    [cli, "up", order, "--store", store, "--run-id", orderNumber, "--input", input],
    {
      env: { ...process.env, SHOP_URL: shop.url },
    },
  );
  await once(command, "exit");
}

const fetchPage = defineTool({
  name: "fetch_page",
  schema: z.object({ url: z.string() }),
  execute: async ({ url }) => ({ title: `Prices of ${url}`, words: 512 }),
});
const sendMail = defineTool({
  name: "send_mail",
  schema: z.object({ to: z.string(), subject: z.string() }),
  sideEffect: true,
  idempotent: false,
  execute: async (_args, ctx) => ({ accepted: true, key: ctx.idempotencyKey }),
});

await using runtime = createRuntime({ store });
await runtime.run({ runId: "price-report", labels: { team: "purchasing" } }, async () => {
  for (const url of ["apples.example", "bread.example", "milk.example"])
    await runtime.call(fetchPage, { url });
  await runtime.call(sendMail, { to: "ann@example.com", subject: "Prices of today" });
});
await startOrder("order-17", "apples", 2);
await startOrder("order-18", "lemonades", 40);

await using server = await serve({ store, port: 0 });
const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1_100, height: 700 }, deviceScaleFactor: 1.5 });
mkdirSync(images, { recursive: true });
await page.goto(server.signInUrl);
await page.getByRole("link", { name: "order-18" }).waitFor();
await page.screenshot({ path: `${images}runs.png` });
await page.getByRole("link", { name: "order-18" }).click();
await page.getByRole("button", { name: "Approve" }).waitFor();
await page.screenshot({ path: `${images}waiting-run.png` });
await page.goto(`${server.url}/runs/price-report`);
await page.getByRole("button", { name: "send_mail" }).click();
await page.getByRole("region", { name: "send_mail" }).getByText("accepted").first().waitFor();
await page.screenshot({ path: `${images}calls.png`, fullPage: true });
await page.goto(`${server.url}/approvals`);
await page.getByRole("button", { name: "Edit arguments" }).click();
const edited = { orderNumber: "order-18", item: "lemonades", quantity: 12 };
await page.getByRole("textbox", { name: "Arguments" }).fill(JSON.stringify(edited, null, 2));
await page.screenshot({ path: `${images}approval.png` });
await browser.close();
shop.close();
rmSync(folder, { recursive: true, force: true });

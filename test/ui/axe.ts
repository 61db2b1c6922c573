/** Runs axe-core in the page. The page's policy allows no foreign script, so the browser injects it itself. */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** One line for each finding. */
export async function findingsOfAxe(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResult>("axe.run()");
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" | ")}`,
  );
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

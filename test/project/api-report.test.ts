/** The public API changes only where `api/` shows it. Reads the build, as users do. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createApiReports } from "../../scripts/api-report.ts";

const folder = new URL("../../api/", import.meta.url);

test("the reports in api/ are those of the build; otherwise run `npm run build && node scripts/api-report.ts`", () => {
  const reports = createApiReports();
  expect(readdirSync(folder).toSorted()).toEqual([...reports.keys()].toSorted());
  for (const [name, text] of reports) expect(readFileSync(new URL(name, folder), "utf8"), name).toBe(text);
});

/** The public API changes only together with `api/`. Reads the build, as users do. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createApiReports } from "../../scripts/api-report.ts";

const folder = new URL("../../api/", import.meta.url);

const TITLE = "the reports in api/ match the build; otherwise run `npm run api`";

// The compiler reads the types of every SDK.
test(TITLE, { timeout: 180_000 }, () => {
  const reports = createApiReports();
  expect(readdirSync(folder).toSorted()).toEqual([...reports.keys()].toSorted());
  for (const [name, text] of reports) expect(readFileSync(new URL(name, folder), "utf8"), name).toBe(text);
});

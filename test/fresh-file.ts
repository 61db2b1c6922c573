/**
 * Keeps test files apart that share a process. To start one for each, and to load the packages from node_modules again,
 * takes longer than most files. So each file gets its own instances of our modules, and whatever it changes in the
 * process is undone at its end.
 */
import { afterAll, vi } from "vitest";

vi.resetModules();
const holder = globalThis as { [name: PropertyKey]: unknown };
// The state that copies of the package share, and the list in which each registers with the AI SDK.
for (const key of Object.getOwnPropertySymbols(holder))
  if (key.description?.startsWith("toolwright.shared.")) delete holder[key];
delete holder["AI_SDK_TELEMETRY_INTEGRATIONS"];

const folder = process.cwd();
const variables = { ...process.env };

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
});

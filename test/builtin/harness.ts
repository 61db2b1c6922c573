/** A folder with a runtime whose root it is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, type Runtime } from "toolwright";
import { onTestFinished } from "vitest";

export type RuntimeOptions = NonNullable<Parameters<typeof createRuntime>[0]>;

export interface Workshop {
  readonly root: string;
  readonly store: string;
  /** A runtime on the same store and root; disposed at the end of the test. */
  open(options?: RuntimeOptions): Runtime;
}

export function createWorkshop(): Workshop {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-tools-"));
  const root = join(folder, "root");
  const store = join(folder, "calls.db");
  const runtimes: Runtime[] = [];
  rmSync(root, { recursive: true, force: true });
  onTestFinished(async () => {
    for (const runtime of runtimes) await runtime[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    root,
    store,
    open(options = {}) {
      const runtime = createRuntime({ store, rootDir: root, ...options });
      runtimes.push(runtime);
      return runtime;
    },
  };
}

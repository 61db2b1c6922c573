import { expect, test } from "vitest";
import { lazyModule, loadLazyModules } from "./lazy.ts";

test("loads all registered modules and the modules that they register, and leaves a failure to the code that needs the module", async () => {
  const loaded: string[] = [];
  const inner = (): Promise<string> => Promise.resolve(loaded.push("inner")).then(() => "inner");
  lazyModule(async () => {
    loaded.push("outer");
    lazyModule(inner);
    return "outer";
  });
  const failing = lazyModule(() => Promise.reject(new Error("not installed")));
  await loadLazyModules();
  expect(loaded).toEqual(["outer", "inner"]);
  await expect(failing.get()).rejects.toThrow("not installed");
  expect(loadLazyModules()).toBeUndefined();
});

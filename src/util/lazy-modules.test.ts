import { expect, test } from "vitest";
import { lazyModule, loadLazyModules } from "./lazy.ts";

test("all that is waiting is loaded, with what that brings along, and what fails is left to whoever needs it", async () => {
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

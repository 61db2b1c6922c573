import { closeSync, constants, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realPathStrategy, strategyFor } from "./path-strategy.ts";

let base = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "strategy-")));
  mkdirSync(join(base, "root", "d", "e"), { recursive: true });
  symlinkSync(join(base, "root"), join(base, "link"));
  symlinkSync("d", join(base, "root", "l"));
});
afterEach(() => rmSync(base, { recursive: true }));

describe("strategyFor", () => {
  it.each(["win32", "freebsd", "aix"] as const)("says that %s is not supported", (platform) => {
    expect(() => strategyFor(platform)).toThrow(
      expect.objectContaining({
        code: "TOOL_PLATFORM_UNSUPPORTED",
        message: expect.stringContaining(platform),
      }),
    );
  });

  it("refuses links anywhere in a path on macOS, by O_NOFOLLOW_ANY", () => {
    expect(strategyFor("darwin").fileFlags).toBe(0x20000000);
  });
});

describe.runIf(process.platform === "linux")("the strategy of Linux", () => {
  it("addresses children by descriptor, so that a swapped parent does no harm", () => {
    const strategy = strategyFor("linux");
    const { directory: root, realPath } = strategy.openRoot(join(base, "link"));
    const child = strategy.openChild(root, "d");
    expect(realPath).toBe(join(base, "root"));
    expect(child.base).toBe(`/proc/self/fd/${child.descriptor}`);
    for (const { descriptor } of [root, child]) closeSync(descriptor);
  });

  it("does not open a link", () => {
    const strategy = strategyFor("linux");
    const { directory: root } = strategy.openRoot(join(base, "root"));
    expect(() => strategy.openChild(root, "l")).toThrow("ENOTDIR");
    closeSync(root.descriptor);
  });
});

describe("the strategy of macOS", () => {
  it("addresses children by their real path, from the root's real path on", () => {
    const strategy = realPathStrategy(constants.O_NOFOLLOW);
    const { directory: root, realPath } = strategy.openRoot(join(base, "link"));
    const child = strategy.openChild(root, "d");
    const grandchild = strategy.openChild(child, "e");
    expect(realPath).toBe(join(base, "root"));
    expect(grandchild.base).toBe(join(base, "root", "d", "e"));
    expect(() => strategy.openChild(root, "l")).toThrow();
    for (const { descriptor } of [root, child, grandchild]) closeSync(descriptor);
  });
});

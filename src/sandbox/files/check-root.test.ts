import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkRoot } from "./check-root.ts";
import { readTextFile } from "./read-text-file.ts";

const REFUSED = expect.objectContaining({ code: "TOOL_OPTION_INVALID", effect: "none" });

describe("checkRoot", () => {
  let base = "";
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "check-root-")));
    mkdirSync(join(base, "home", "me", "project"), { recursive: true });
    vi.stubEnv("HOME", join(base, "home", "me"));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(base, { recursive: true });
  });

  it("returns the real path of a project below the home", () => {
    symlinkSync(join(base, "home", "me", "project"), join(base, "link"));
    expect(checkRoot(join(base, "link"))).toBe(join(base, "home", "me", "project"));
  });

  it("refuses the whole file system", () => {
    expect(() => checkRoot("/")).toThrow(REFUSED);
  });

  it("refuses the home folder and its parents", () => {
    for (const root of [join(base, "home", "me"), join(base, "home"), base]) {
      expect(() => checkRoot(root)).toThrow(REFUSED);
    }
  });

  it("refuses the home when the root is a link to it", () => {
    symlinkSync(join(base, "home", "me"), join(base, "link"));
    expect(() => checkRoot(join(base, "link"))).toThrow(REFUSED);
  });

  it("refuses the home when $HOME is a link to it", () => {
    symlinkSync(join(base, "home", "me"), join(base, "link"));
    vi.stubEnv("HOME", join(base, "link"));
    expect(() => checkRoot(join(base, "home", "me"))).toThrow(REFUSED);
  });

  it("refuses the account's own home although $HOME says otherwise", () => {
    const own = userInfo().homedir;
    for (const root of [own, dirname(own)]) expect(() => checkRoot(root)).toThrow(REFUSED);
  });

  it("accepts a folder whose name only begins like the home", () => {
    mkdirSync(join(base, "home", "me-too"));
    expect(checkRoot(join(base, "home", "me-too"))).toBe(join(base, "home", "me-too"));
  });

  it("refuses a path that is not a folder", () => {
    writeFileSync(join(base, "file"), "");
    for (const root of [join(base, "file"), join(base, "missing")]) {
      expect(() => checkRoot(root)).toThrow(REFUSED);
    }
  });

  it("refuses system folders, even through a link", () => {
    symlinkSync("/etc", join(base, "etc"));
    for (const root of [
      "/etc",
      "/usr",
      "/proc",
      "/proc/self",
      "/var",
      "/dev",
      "/bin",
      "/sbin",
      join(base, "etc"),
    ]) {
      expect(() => checkRoot(root)).toThrow(REFUSED);
    }
  });

  it("is checked by the file tools", async () => {
    for (const rootDir of ["/", "/etc", "/bin", join(base, "home"), join(base, "missing")]) {
      await expect(readTextFile({ rootDir, path: "x", maxBytes: 9 })).rejects.toThrow(REFUSED);
    }
  });
});

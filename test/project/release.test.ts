/** A release changes the version everywhere at once. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { prepareRelease } from "../../scripts/release.ts";

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

const files = {
  "package.json": read("package.json"),
  "package-lock.json": read("package-lock.json"),
  "CHANGELOG.md": "# Changelog\n\n## 9.8.7 (unreleased)\n\n- A change.\n\n## 0.1.0\n",
  "src/definition/package-copy.ts": read("src/definition/package-copy.ts"),
  "packages/create-toolwright/package.json": read("packages/create-toolwright/package.json"),
};

test("the version is the same in the package, the lock file, the source and the changelog", () => {
  const released = prepareRelease(files, "9.8.7", "2030-01-02");
  expect(JSON.parse(released["package.json"])).toMatchObject({ version: "9.8.7" });
  expect(JSON.parse(released["package-lock.json"])).toMatchObject({
    version: "9.8.7",
    packages: { "": { version: "9.8.7" } },
  });
  expect(released["src/definition/package-copy.ts"]).toContain('const VERSION = "9.8.7"');
  expect(JSON.parse(released["packages/create-toolwright/package.json"])).toMatchObject({
    version: "9.8.7",
    dependencies: { toolwright: "^9.8.7" },
  });
  expect(released["CHANGELOG.md"]).toContain("## 9.8.7 (2030-01-02)\n");
});

test("dependencies of the same version keep theirs", () => {
  const lock = {
    version: "0.1.0",
    packages: { "": { version: "0.1.0" }, "node_modules/a": { version: "0.1.0" } },
  };
  const released = prepareRelease(
    { ...files, "package-lock.json": JSON.stringify(lock, null, 2) },
    "9.8.7",
    "x",
  );
  expect(JSON.parse(released["package-lock.json"])).toMatchObject({
    version: "9.8.7",
    packages: { "": { version: "9.8.7" }, "node_modules/a": { version: "0.1.0" } },
  });
});

test.each(["", "1.2", "v1.2.3", "latest"])("the version %j is refused", (version) => {
  expect(() => prepareRelease(files, version, "x")).toThrow(/Expected a version such as/);
});

test("a release without a section in the changelog is refused", () => {
  expect(() => prepareRelease(files, "9.9.9", "x")).toThrow(/no section "## 9.9.9 \(unreleased\)"/);
});

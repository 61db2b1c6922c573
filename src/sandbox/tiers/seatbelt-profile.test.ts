import { expect, test } from "vitest";
import { seatbeltProfile, type SeatbeltRequest } from "./seatbelt-profile.ts";

const REQUEST: SeatbeltRequest = {
  root: "/Users/ann/project",
  rootReadOnly: false,
  home: "/Users/ann",
  allowNetwork: false,
  readOnly: ["/Users/ann/.nvm"],
  protections: [
    { kind: "readOnly", path: "/Users/ann/project/.git/config" },
    { kind: "hideFolder", path: "/Users/ann/project/.toolwright" },
    { kind: "pin", path: "/Users/ann/project/.git" },
  ],
};

const lines = (request: Partial<SeatbeltRequest> = {}): string[] =>
  seatbeltProfile({ ...REQUEST, ...request }).split("\n");

test("the network is denied unless it is allowed", () => {
  expect(lines()).toContain("(deny network*)");
  expect(lines({ allowNetwork: true })).not.toContain("(deny network*)");
});

test("writing is denied everywhere before it is allowed in the root", () => {
  const rules = lines();
  const allowed = rules.indexOf('(allow file-write* (subpath "/Users/ann/project"))');
  expect(allowed).toBeGreaterThan(rules.indexOf("(deny file-write*)"));
  expect(lines({ rootReadOnly: true }).join("\n")).not.toContain(
    '(allow file-write* (subpath "/Users/ann/project"))',
  );
});

test("the home is hidden, and toolchains and the root in it are visible again", () => {
  const rules = lines();
  const hidden = rules.indexOf('(deny file-read* (subpath "/Users/ann"))');
  expect(hidden).toBeGreaterThan(0);
  expect(rules.indexOf('(allow file-read* (subpath "/Users/ann/.nvm"))')).toBeGreaterThan(hidden);
  expect(rules.indexOf('(allow file-read* (subpath "/Users/ann/project"))')).toBeGreaterThan(hidden);
});

test("rules for guarded paths in the root come last", () => {
  const rules = lines();
  const root = rules.indexOf('(allow file-write* (subpath "/Users/ann/project"))');
  for (const rule of [
    '(deny file-write* (subpath "/Users/ann/project/.git/config"))',
    '(deny file-read* file-write* (subpath "/Users/ann/project/.toolwright"))',
    '(deny file-write-unlink (literal "/Users/ann/project/.git"))',
  ]) {
    expect(rules.indexOf(rule)).toBeGreaterThan(root);
  }
});

test("a quote in a path does not end the string", () => {
  const profile = seatbeltProfile({ ...REQUEST, root: '/tmp/a")(allow default)("\\b', protections: [] });
  expect(profile).toContain(String.raw`(subpath "/tmp/a\")(allow default)(\"\\b")`);
});

import { expect, test } from "vitest";
import { cleanEnvironment, cleanPath, DEFAULT_PATH } from "./clean-environment.ts";

const roots = ["/projects/link", "/projects/real"];

test("only names of the list come along", () => {
  const from = {
    PATH: "/usr/bin",
    HOME: "/home/a",
    LC_ALL: "C",
    LANG: "C",
    TZ: "UTC",
    CI: "1",
    TERM: "x",
    NO_COLOR: "1",
    AWS_SECRET_ACCESS_KEY: "s",
    LD_PRELOAD: "/x.so",
    NODE_OPTIONS: "-r x",
    SSH_AUTH_SOCK: "/run/x",
    LCX: "1",
    BASH_ENV: "x",
  };
  expect(Object.keys(cleanEnvironment({ from, roots })).toSorted()).toEqual([
    "CI",
    "HOME",
    "LANG",
    "LC_ALL",
    "NO_COLOR",
    "PATH",
    "TERM",
    "TZ",
  ]);
});

test("the caller's variables are set, and the caller's PATH is cleaned too", () => {
  const extra = { TOKEN: "t", PATH: "./bin:/opt/x" };
  expect(cleanEnvironment({ from: {}, roots, extra })).toMatchObject({ TOKEN: "t", PATH: "/opt/x" });
});

test.each([
  ["relative entries", ".:bin:./x::/usr/bin", "/usr/bin"],
  ["entries in the root as given", "/projects/link/bin:/usr/bin", "/usr/bin"],
  ["entries in the real root", "/projects/real:/usr/bin:/projects/real/a/b", "/usr/bin"],
  ["entries that lead into the root", "/projects/x/../real/bin:/usr/bin", "/usr/bin"],
  ["entries that came before", "/usr/bin:/bin:/usr/bin/", "/usr/bin:/bin"],
])("%s leave PATH", (_, path, expected) => expect(cleanPath(path, roots)).toBe(expected));

test("a neighbour with the same beginning stays", () => {
  expect(cleanPath("/projects/real-tools/bin", roots)).toBe("/projects/real-tools/bin");
});

test.each([[undefined], [""], ["."]])("%s becomes the system's default", (path) => {
  expect(cleanPath(path, roots)).toBe(DEFAULT_PATH);
});

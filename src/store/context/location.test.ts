/** Everything below a folder, by the order of texts. */
import { expect, test } from "vitest";
import { below, locationParameters } from "./location.ts";

test.each<[string, string, boolean]>([
  ["/a", "/a/b", true],
  ["/a", "/a/b/c", true],
  ["/a", "/ab", false],
  ["/a", "/a-b", false],
  ["/a", "/a.txt", false],
  ["/", "/a", true],
])("below %s: %s is %s", (folder, path, expected) => {
  const [from, to] = below(folder);
  expect(path >= from && path < to).toBe(expected);
});

test("one path only, in every drive", () => {
  expect(locationParameters({ drive: undefined, path: "/a", only: true })).toEqual([null, "/a", "", ""]);
});

import { expect, test } from "vitest";
import { areMounted, parseMountInfo } from "./verify-mounts.ts";

const LINES = [
  "64 42 0:39 /newroot / ro,nosuid,nodev,relatime - tmpfs tmpfs rw",
  "65 64 254:0 /usr /usr ro,nosuid,nodev,relatime shared:1 - ext4 /dev/vda rw",
  "78 77 254:0 /x /tmp/a\\040b\\134c\\012d rw,nosuid - ext4 /dev/vda rw",
];

test("mounts are read with their path, mode and type, and odd names are decoded", () => {
  expect(parseMountInfo(LINES.join("\n"))).toEqual([
    { point: "/", readOnly: true, type: "tmpfs" },
    { point: "/usr", readOnly: true, type: "ext4" },
    { point: "/tmp/a b\\c\nd", readOnly: false, type: "ext4" },
  ]);
});

test("the sandbox is ready once its own root is read-only, and not before", () => {
  expect(areMounted(parseMountInfo(LINES.join("\n")))).toBe(true);
  const before = LINES.map((line) => line.replace("/ ro,", "/ rw,").replace("/newroot /", "/ /"));
  expect(areMounted(parseMountInfo(before.join("\n")))).toBe(false);
  expect(areMounted(parseMountInfo("22 1 254:0 / / ro,relatime - ext4 /dev/vda rw"))).toBe(false);
});

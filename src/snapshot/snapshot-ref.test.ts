import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { seqOf, snapshotRef } from "./snapshot-ref.ts";

const PLAIN =
  "run,Run,RUN,., ,..,@,@{,a.lock,a.,.a,a/b,a//b,/a,a/,-a,a%2fb,a%2Fb,%%,%,a b,a~1,a^,a:b,a?,a*,a[";
const RUN_IDS = [
  ...PLAIN.split(","),
  "",
  "a\nb",
  "a\0b",
  "a\\b",
  "ü",
  "u\u0308",
  "%u00fc",
  "00fc",
  "a%",
  "a%25",
  "HEAD",
  "con",
  "\ud800",
  "\udfff",
  "\ufffd",
  "😀",
  "é".repeat(300),
  ...[200, 201, 202].map((length) => "x".repeat(length)),
];

describe("snapshotRef", () => {
  it.each(RUN_IDS)("gives a ref that git takes for %j", (runId) => {
    const ref = snapshotRef(runId, 7);
    expect(() => execFileSync("git", ["check-ref-format", ref])).not.toThrow();
    expect(ref.split("/").every((part) => Buffer.byteLength(part) <= 240)).toBe(true);
    expect(ref.split("/")).toHaveLength(4);
  });

  it("gives no two run ids the same ref, even on a file system that ignores case", () => {
    const refs = RUN_IDS.map((runId) => snapshotRef(runId, 1).toLowerCase());
    expect(new Set(refs).size).toBe(RUN_IDS.length);
  });

  it("leaves plain run ids readable", () => {
    expect(snapshotRef("run_2024-01", 12)).toBe("refs/toolwright/run_2024-01/12");
  });
});

describe("seqOf", () => {
  it.each([
    ["refs/toolwright/run/0", 0],
    ["refs/toolwright/run/12", 12],
    ["refs/toolwright/run/012", undefined],
    ["refs/toolwright/run/before-restore", undefined],
    ["refs/toolwright/run/1/2", undefined],
    ["refs/heads/run/1", undefined],
    ["refs/toolwright/run/99999999999999999999", undefined],
  ])("reads %s as %s", (ref, seq) => expect(seqOf(ref)).toBe(seq));
});

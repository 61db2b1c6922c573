/** Rule 36 for any reader of calls. */
import { expect, test } from "vitest";
import type { CallStatus } from "./calls.ts";
import { reportInterrupted } from "./report-interrupted.ts";

const call = (status: CallStatus, ownerId: string | null) => ({ status, ownerId });

async function report(reads: readonly (readonly ReturnType<typeof call>[])[], alive: readonly string[]) {
  let count = 0;
  const { found, reported } = await reportInterrupted(
    () => Promise.resolve(reads[Math.min(count++, reads.length - 1)] ?? []),
    (calls) => calls,
    (ownerId) => Promise.resolve(alive.includes(ownerId)),
  );
  return { statuses: found.map((row) => reported(row).status), reads: count };
}

test("a started call of a dead owner, or of none, is unknown", async () => {
  const rows = [
    call("started", "dead"),
    call("started", "live"),
    call("started", null),
    call("success", "dead"),
  ];
  expect(await report([rows], ["live"])).toEqual({
    statuses: ["unknown", "started", "unknown", "success"],
    reads: 2,
  });
});

test("calls that the owner ended just before its own end are read again", async () => {
  const reads = [[call("started", "dead")], [call("success", "dead")]];
  expect((await report(reads, [])).statuses).toEqual(["success"]);
});

test("calls of live owners are read once", async () => {
  expect((await report([[call("started", "live")]], ["live"])).reads).toBe(1);
});

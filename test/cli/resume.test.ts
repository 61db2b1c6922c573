/** `toolwright resume`: by id alone, after every kind of end, and never twice concurrently. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createFolder, start, toolwright } from "./command.ts";
import { EFFECTS } from "./workflows.ts";

const HANG = { env: { HANG: "1" } };

function effects(folder: string): string[] {
  const lines = readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n");
  return lines.map((line) => line.split(" ")[0] ?? "");
}

async function startHanging(folder: string) {
  const run = start(folder, ["up", "w.tsx", "--run-id", "r"], HANG);
  await run.saying("second is written");
  return run;
}

it("resumes after kill -9 by its id, and repeats no effect", async () => {
  const folder = createFolder({ "w.tsx": EFFECTS });
  const run = await startHanging(folder);
  run.child.kill("SIGKILL");
  await run.ended;
  const ps = await toolwright(folder, ["ps", "--json"]);
  expect(ps.json()).toMatchObject([{ runId: "r", status: "running", interrupted: true, pid: null }]);
  const why = await toolwright(folder, ["why", "r", "--json"]);
  expect(why.json()).toMatchObject({
    next: [{ action: "resume", label: "Resume the run", command: expect.stringMatching(/resume r$/) }],
  });
  const resumed = await toolwright(folder, ["resume", "r"]);
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.stdout).toContain("run r resumed");
  expect(effects(folder)).toEqual(["first", "second"]);
});

it("lets one of two terminals own the run, and names the owner in the other", async () => {
  const folder = createFolder({ "w.tsx": EFFECTS });
  const run = await startHanging(folder);
  run.child.kill("SIGKILL");
  await run.ended;
  const both = [start(folder, ["resume", "r"], HANG), start(folder, ["resume", "r"], HANG)];
  const loser = await Promise.race(both.map(async (one) => ({ one, end: await one.ended })));
  expect(loser.end.code).toBe(1);
  const winner = both.find((one) => one !== loser.one);
  await winner?.saying("second is written");
  const third = await toolwright(folder, ["resume", "r"]);
  expect(third.code).toBe(1);
  expect(third.stderr).toContain(`Run "r" is running in process ${winner?.child.pid}`);
  winner?.child.kill("SIGKILL");
  await winner?.ended;
  expect(effects(folder)).toEqual(["first", "second"]);
});

it.each(["SIGTERM", "SIGINT"] as const)("stops at %s, prints how to resume, and resumes", async (signal) => {
  const folder = createFolder({ "w.tsx": EFFECTS });
  const run = await startHanging(folder);
  run.child.kill(signal);
  const stopped = await run.ended;
  expect(stopped.code).toBe(1);
  expect(stopped.stdout).toMatch(new RegExp(`${signal}: stopping[^]*stopped r\\n[^]*resume r`));
  const why = await toolwright(folder, ["why", "r"]);
  expect(why.stdout).toMatch(/was stopped .* ago\. It can be resumed where it stopped\./);
  expect(await toolwright(folder, ["resume", "r"])).toMatchObject({ code: 0 });
  expect(effects(folder)).toEqual(["first", "second"]);
});

it("cancels a run in another process, and one without an owner", async () => {
  const folder = createFolder({ "w.tsx": EFFECTS });
  const run = await startHanging(folder);
  const cancelled = await toolwright(folder, ["cancel", "r", "--json"]);
  expect(cancelled).toMatchObject({ code: 0 });
  expect(cancelled.json()).toMatchObject({ runId: "r", status: "cancelled" });
  expect(await run.ended).toMatchObject({ code: 1 });
  const ps = await toolwright(folder, ["ps", "--json"]);
  expect(ps.json()).toMatchObject([{ runId: "r", status: "cancelled" }]);

  const killed = start(folder, ["up", "w.tsx", "--run-id", "k"], HANG);
  await killed.saying("second is written");
  killed.child.kill("SIGKILL");
  await killed.ended;
  const idle = await toolwright(folder, ["cancel", "k", "--json"]);
  expect(idle.json()).toMatchObject({ runId: "k", status: "cancelled" });
  expect(await toolwright(folder, ["resume", "k"])).toMatchObject({ code: 0 });
});

it("reports that the workflow has changed, and resumes when that is accepted", async () => {
  const folder = createFolder({ "w.tsx": EFFECTS });
  const run = await startHanging(folder);
  run.child.kill("SIGKILL");
  await run.ended;
  writeFileSync(join(folder, "w.tsx"), EFFECTS.replace("return done;", 'return { text: done.text + "!" };'));
  const refused = await toolwright(folder, ["resume", "r"]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("--accept-changes");
  const accepted = await toolwright(folder, ["resume", "r", "--accept-changes", "--json"]);
  expect(accepted.json()).toMatchObject({ status: "finished", output: { text: "second!" } });
  expect(effects(folder)).toEqual(["first", "second"]);
});

it("accepts --file once for a file that has moved", async () => {
  const folder = createFolder({ "w.tsx": EFFECTS });
  const run = await startHanging(folder);
  run.child.kill("SIGKILL");
  await run.ended;
  renameSync(join(folder, "w.tsx"), join(folder, "moved.tsx"));
  const lost = await toolwright(folder, ["resume", "r"]);
  expect(lost.code).toBe(1);
  expect(lost.stderr).toMatch(/w\.tsx, no longer exists\.\n.*--file/);
  const moved = start(folder, ["resume", "r", "--file", "moved.tsx"], HANG);
  await moved.saying("second is written");
  moved.child.kill("SIGKILL");
  await moved.ended;
  expect(await toolwright(folder, ["resume", "r"])).toMatchObject({ code: 0 });
});

/** Waiting runs on the command line, in real processes that are killed while they wait. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { STORE_KINDS } from "../store-kinds.ts";
import { createFolder, start, toolwright } from "../cli/command.ts";

/** One effect before each wait and one at the end, each a line of effects.txt. */
const WAITING = `
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkflows, defineTool } from "toolwright";
import { z } from "zod";
const write = defineTool({
  name: "write_line",
  description: "Writes a line.",
  schema: z.object({ text: z.string() }),
  sideEffect: true,
  idempotent: false,
  execute: ({ text }: { text: string }, ctx) => {
    appendFileSync(join(ctx.rootDir, "effects.txt"), \`\${text}\\n\`);
    return { text };
  },
});
const { Workflow, Task, Sleep, Signal, workflow, outputs } = createWorkflows({
  input: z.object({ ms: z.number() }),
  paid: z.object({ amount: z.number() }),
  output: z.object({ text: z.string() }),
});
export default workflow((ctx) => (
  <Workflow name="waiting">
    <Task id="first" output={outputs.output}>{() => write.execute({ text: "first" })}</Task>
    <Sleep id="nap" for={ctx.input.ms} />
    <Task id="second" output={outputs.output}>{() => write.execute({ text: "second" })}</Task>
    <Signal id="paid" name="paid" output={outputs.paid} />
    <Task id="third" output={outputs.output}>{() => write.execute({ text: "third" })}</Task>
  </Workflow>
));
`;

describe.each(STORE_KINDS)("on $name", (storeKind) => {
  it("a run whose process is killed while it sleeps and while it waits has each effect once", async () => {
    await using store = await storeKind.fresh();
    const folder = createFolder({ "w.tsx": WAITING });
    const at = ["--store", store.address];
    const input = ["--input", JSON.stringify({ ms: 1_500 }), "--run-id", "r"];
    const sleeping = start(folder, ["up", "w.tsx", "--wait", ...input, ...at]);
    await sleeping.saying('Task "nap" sleeps until');
    sleeping.child.kill("SIGKILL");
    await sleeping.ended;
    const waiting = start(folder, ["resume", "r", "--wait", ...at]);
    await waiting.saying('waits for the signal "paid"');
    waiting.child.kill("SIGKILL");
    await waiting.ended;
    const refused = await toolwright(folder, [
      "signal",
      "r",
      "paid",
      "--payload",
      '{"amount":"much"}',
      ...at,
      "--json",
    ]);
    expect(refused.code).toBe(1);
    expect(refused.json()).toMatchObject({ error: { code: "WORKFLOW_SIGNAL_INVALID" } });
    const last = start(folder, ["resume", "r", "--wait", "--json", ...at]);
    const send = ["signal", "r", "paid", "--payload", '{"amount":5}', "--key", "p1", ...at, "--json"];
    expect((await toolwright(folder, send)).json()).toMatchObject({ duplicate: false });
    const end = await last.ended;
    expect(end.json()).toMatchObject({ status: "finished", outputs: { paid: [{ amount: 5 }] } });
    expect(end.code).toBe(0);
    expect(readFileSync(join(folder, "effects.txt"), "utf8")).toBe("first\nsecond\nthird\n");
    const late = await toolwright(folder, ["signal", "r", "paid", ...at]);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain("takes no more signals");
  });
});

it("without --wait, up exits with 3, and names the time or the signal and the next commands", async () => {
  const folder = createFolder({ "w.tsx": WAITING });
  const sleeping = await toolwright(folder, ["up", "w.tsx", "--input", '{"ms":7200000}', "--run-id", "long"]);
  expect(sleeping.code).toBe(3);
  expect(sleeping.stdout).toMatch(
    /Task "nap" sleeps until 20\d\d-\d\d-\d\dT.*Z, for another (1 h 59|2 h 0) min\./,
  );
  expect(sleeping.stdout).toContain("resume long --wait");
  const waiting = await toolwright(folder, ["up", "w.tsx", "--input", '{"ms":0}', "--run-id", "short"]);
  expect(waiting.code).toBe(3);
  expect(waiting.stdout).toContain('Task "paid" waits for the signal "paid".');
  // The printed command is accepted as it is.
  expect(waiting.stdout).toContain(`signal short paid --payload '{"amount":0}'`);
  const json = await toolwright(folder, [
    "up",
    "w.tsx",
    "--input",
    '{"ms":0}',
    "--run-id",
    "third",
    "--json",
  ]);
  expect(json.json()).toMatchObject({
    status: "waiting-signal",
    waits: [{ nodeId: "paid", kind: "signal", signal: "paid", isOver: false }],
  });
  const listed = await toolwright(folder, ["ps", "--status", "waiting-signal", "--json"]);
  expect(listed.json()).toMatchObject([{ runId: "third" }, { runId: "short" }]);
  const why = await toolwright(folder, ["why", "long"]);
  expect(why.stdout).toContain('Task "nap" sleeps until');
  const sent = await toolwright(folder, ["signal", "short", "paid", "--payload", '{"amount":0}']);
  expect(sent.stdout).toContain('The signal "paid" was sent to run "short". The run waits for it');
  expect(sent.stdout).toMatch(/toolwright resume short|resume short/);
  const ended = await toolwright(folder, ["resume", "short"]);
  expect(ended.code).toBe(0);
});

it("Ctrl-C ends the waiting, not the run", async () => {
  const folder = createFolder({ "w.tsx": WAITING });
  const run = start(folder, ["up", "w.tsx", "--wait", "--input", '{"ms":7200000}', "--run-id", "r"]);
  await run.saying("sleeps until");
  run.child.kill("SIGINT");
  expect((await run.ended).code).toBe(3);
  const listed = await toolwright(folder, ["ps", "--json"]);
  expect(listed.json()).toMatchObject([{ runId: "r", status: "waiting-timer" }]);
});

it("sets, lists, pauses, resumes and deletes schedules", async () => {
  const folder = createFolder();
  const empty = await toolwright(folder, ["schedule", "list"]);
  expect(empty.code).toBe(0);
  expect(empty.stdout).toContain("There are no schedules.");
  const cron = [
    "schedule",
    "set",
    "nightly",
    "--workflow",
    "report",
    "--cron",
    "0 3 * * *",
    "--tz",
    "Europe/Berlin",
  ];
  const set = await toolwright(folder, [...cron, "--input", '{"day":1}', "--overlap", "queue", "--json"]);
  expect(set.json()).toMatchObject({
    name: "nightly",
    overlap: "queue",
    tz: "Europe/Berlin",
    input: { day: 1 },
  });
  const every = await toolwright(folder, [
    "schedule",
    "set",
    "poll",
    "--workflow",
    "poll",
    "--every",
    "60000",
  ]);
  expect(every.stdout).toMatch(/Schedule "poll" of workflow "poll" next starts a run at 20\d\d-.*Z\./);
  const listed = await toolwright(folder, ["schedule", "list"]);
  expect(listed.stdout).toMatch(/nightly +report +0 3 \* \* \* Eu.* +20\d\d-\d\d-\d\dT0[12]:00:00\.000Z/);
  expect(listed.stdout).toContain("every 60000 ms");
  expect((await toolwright(folder, ["schedule", "pause", "poll"])).stdout).toContain("is paused");
  expect((await toolwright(folder, ["schedule", "resume", "poll", "--json"])).json()).toMatchObject({
    paused: false,
  });
  expect((await toolwright(folder, ["schedule", "rm", "poll"])).code).toBe(0);
  const missing = await toolwright(folder, ["schedule", "rm", "poll", "--json"]);
  expect(missing.code).toBe(1);
  expect(missing.json()).toMatchObject({ error: { code: "WORKFLOW_SCHEDULE_NOT_FOUND" } });
  const bad = await toolwright(folder, [
    "schedule",
    "set",
    "x",
    "--workflow",
    "w",
    "--cron",
    "often",
    "--json",
  ]);
  expect(bad.json()).toMatchObject({
    error: { code: "TOOL_OPTION_INVALID", message: expect.stringMatching(/^--cron does not parse: /) },
  });
  const zone = ["schedule", "set", "x", "--workflow", "w", "--cron", "@daily", "--tz", "Berlin"];
  expect((await toolwright(folder, zone)).stderr).toMatch(/^toolwright: --tz must be a time zone such as /);
  const unknown = await toolwright(folder, ["schedule", "sett", "x", "--json"]);
  expect(unknown.code).toBe(1);
  expect(unknown.json()).toMatchObject({ error: { code: "CLI_USAGE" } });
});

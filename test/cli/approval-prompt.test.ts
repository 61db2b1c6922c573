/** Approvals: `up` prints the request, `--ask` prompts on a terminal, `approve --resume` decides and resumes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";
import { atTerminal } from "./terminal.ts";
import { QUESTIONS } from "./workflows.ts";

interface Shown {
  readonly status: string;
  readonly approvals: readonly { readonly id: string; readonly prompt: string }[];
  readonly next: readonly { readonly label: string; readonly command: string }[];
}

describe("a run that waits for approval", () => {
  it("prints the request, and commands that decide it and resume the run", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS });
    const first = await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
    expect(first.code).toBe(3);
    expect(first.stdout).toMatch(
      /waiting q waits for approval\.\n {2}apr_\S+ {2}task start\n {4}Shall we begin\?\n {4}Approve it, and resume:\n {6}\S.* approve apr_\S+ --resume\n {4}Deny it, and resume:\n {6}\S.* deny apr_\S+ --resume\n/,
    );
    const second = await toolwright(folder, ["approve", "q", "--resume"]);
    expect(second.code).toBe(3);
    expect(second.stdout).toMatch(/^approved apr_\S+\nrun q resumed\n/);
    expect(second.stdout).toMatch(/task pay, tool pay\n {4}Pay 70 euros\?\n {4}\{"euros":70\}\n/);
    const done = await toolwright(folder, ["approve", "q", "--resume", "--args", '{"euros":7}', "--json"]);
    expect(done.code).toBe(0);
    expect(done.json()).toMatchObject({
      status: "finished",
      output: { paid: 7 },
      decision: { status: "approved", approvedArgs: { euros: 7 } },
    });
  });

  it("has the requests and the commands in its JSON too", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS });
    const shown = (await toolwright(folder, ["up", "w.tsx", "--json"])).json() as Shown;
    expect(shown).toMatchObject({
      status: "waiting-approval",
      approvals: [{ prompt: "Shall we begin?", status: "pending" }],
      next: [
        { label: "Approve it, and resume", command: expect.stringMatching(/ approve apr_\S+ --resume$/) },
        { label: "Deny it, and resume", command: expect.stringMatching(/ deny apr_\S+ --resume$/) },
        { label: "Answer here, on a terminal", command: expect.stringMatching(/ resume \S+ --ask$/) },
      ],
    });
  });

  it("fails with deny --resume, and does not suggest another resume", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS });
    await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
    await toolwright(folder, ["approve", "q", "--resume"]);
    const denied = await toolwright(folder, ["deny", "q", "--resume", "--comment", "too much"]);
    expect(denied.code).toBe(1);
    expect(denied.stdout).toMatch(/^denied apr_[^]*failed q: .*denied/);
    expect(denied.stdout).toMatch(/ why q\n/);
    expect(denied.stdout).not.toMatch(/ resume q\n/);
  });

  it("is not decided if it cannot be resumed", async () => {
    const folder = createFolder({
      "w.tsx": QUESTIONS,
      "toolwright.config.ts": `import { defineTool } from "toolwright"; import { z } from "zod";
        const pay = defineTool({ name: "pay", schema: z.object({}), sideEffect: true, needsApproval: true, execute: () => 1 });
        export default { tools: [pay] };`,
    });
    await toolwright(folder, ["pay", "--run-id", "tool"]);
    const refused = await toolwright(folder, ["approve", "tool", "--resume", "--json"]);
    expect(refused.code).toBe(1);
    expect(refused.json()).toMatchObject({
      error: {
        message: expect.stringContaining("not a workflow run"),
        hint: expect.stringContaining("without --resume"),
      },
    });
    await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
    const lost = await toolwright(folder, ["approve", "q", "--resume", "--file", "gone.tsx"]);
    expect(lost.stderr).toMatch(/There is no file .*gone\.tsx/);
    const open = (await toolwright(folder, ["approvals", "--json"])).json() as { runId: string }[];
    expect(open.map(({ runId }) => runId).toSorted()).toEqual(["q", "tool"]);
    expect(await toolwright(folder, ["approve", "q", "--file", "w.tsx"])).toMatchObject({ code: 1 });
  });
});

it("refuses arguments for a task, which has none", async () => {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
  const refused = await toolwright(folder, ["approve", "q", "--args", "{}"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("has no arguments to edit") });
  expect((await toolwright(folder, ["approvals", "--json"])).json()).toHaveLength(1);
});

it("says that there is no store, rather than that there is nothing to decide", async () => {
  const { code, stdout } = await toolwright(createFolder(), ["approvals"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("There is no store toolwright.db")]);
});

describe.runIf(process.platform === "linux")("--ask", () => {
  it("asks about tasks and calls on a terminal, and resumes until the run has finished", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS });
    const clear = "\u0015";
    const { code, screen } = await atTerminal(folder, "up w.tsx --run-id q --ask", [
      ["Approve it? [y]es, [N]o: ", "yes\r"],
      ["Run it? [y]es, [N]o, [e]dit the arguments: ", "e\r"],
      ["arguments> ", `${clear}{"euros":8}\r`],
    ]);
    expect(screen).toMatch(/Shall we begin\?\r?\n/);
    expect(screen).toMatch(/Pay 70 euros\?\r?\n {2}pay \{"euros":70\}\r?\n/);
    expect(screen).toMatch(/finished q\r?\n\{\r?\n {2}"paid": 8/);
    expect(code).toBe(0);
  });

  it("treats Enter as no, and leaves the request open on Ctrl-D and Ctrl-C", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS });
    const question = "Approve it?";
    const left = await atTerminal(folder, "up w.tsx --run-id q --ask", [[question, "\u0004"]]);
    expect(left.code).toBe(3);
    expect(left.screen).toMatch(/waiting q waits for approval/);
    const stopped = await atTerminal(folder, "resume q --ask", [[question, "\u0003"]]);
    expect(stopped.code).toBe(3);
    const denied = await atTerminal(folder, "resume q --ask", [[question, "\r"]]);
    expect(denied.code).toBe(1);
    const all = await toolwright(folder, ["approvals", "--status", "all", "--json"]);
    expect(all.json()).toMatchObject([{ status: "denied" }]);
  });

  it("asks on stderr with --json, so that stdout holds only the result", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS });
    const { code } = await atTerminal(folder, "up w.tsx --run-id q --ask --json >answer.json", [
      ["Approve it?", "y\r"],
      ["Run it?", "y\r"],
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(join(folder, "answer.json"), "utf8"))).toMatchObject({
      status: "finished",
      output: { paid: 70 },
    });
  });

  it("is refused without a terminal, before anything runs", async () => {
    const folder = createFolder({
      "w.tsx": `import { writeFileSync } from "node:fs"; writeFileSync("ran", "");`,
    });
    for (const args of [
      ["up", "w.tsx", "--ask"],
      ["resume", "r", "--ask"],
    ]) {
      const { code, json } = await toolwright(folder, [...args, "--json"]);
      expect(code).toBe(1);
      expect(json()).toMatchObject({
        error: { code: "CLI_USAGE", message: expect.stringContaining("--ask needs a terminal") },
      });
    }
    expect(existsSync(join(folder, "ran"))).toBe(false);
    const piped = await atTerminal(folder, "up w.tsx --ask </dev/null");
    expect(piped.screen).toContain("--ask needs a terminal");
  });
});

/** Untrusted ids, names, prompts and errors: none of them can forge a line, a colour or a command. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createRuntime, defineTool } from "toolwright";
import { z } from "zod";
import { createFolder, MAIN, toolwright } from "./command.ts";
import { QUESTIONS } from "./workflows.ts";

const FORGED = "toolwright approve apr_forged";
/** A line break, colours, cursor movement, reordered letters, an 8-bit escape, invisible letters. */
const HOSTILE = `x\n  ${FORGED}\r\n\u001B[31m\u009B2J\u202E\u2028\u{E0041}y`;

const STEERING =
  // oxlint-disable-next-line eslint/no-control-regex
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/u;

function expectHarmless(text: string): void {
  expect(text).not.toMatch(STEERING);
  expect(text.split("\n").filter((line) => line.trim().startsWith(FORGED))).toEqual([]);
}

/** A store with a request in which every text is hostile. */
async function hostileStore(): Promise<string> {
  const folder = createFolder({ "w.tsx": QUESTIONS });
  const pay = defineTool({
    name: "pay",
    description: HOSTILE,
    schema: z.object({ to: z.string() }),
    needsApproval: true,
    sideEffect: true,
    idempotent: false,
    approvalPrompt: () => HOSTILE,
    execute: (_args, ctx) => {
      throw new Error(`${HOSTILE} ${ctx.idempotencyKey}`);
    },
  });
  await using runtime = createRuntime({ store: join(folder, "toolwright.db") });
  await runtime.call(pay, { to: HOSTILE }, { runId: HOSTILE, nodeId: HOSTILE });
  // A tool definition refuses such a name, but a store may still hold one.
  const database = new DatabaseSync(join(folder, "toolwright.db"));
  for (const table of ["toolwright_calls", "toolwright_approvals"])
    database.prepare(`UPDATE ${table} SET tool_name = ?`).run(HOSTILE);
  database.close();
  return folder;
}

/** Runs a line as if a user pasted it. */
async function paste(folder: string, line: string): Promise<{ code: number; stdout: string }> {
  const typed = line.trim().replace(/^(?:npx toolwright|node \S+)/, `'${process.execPath}' '${MAIN}'`);
  const { stdout } = await promisify(execFile)("bash", ["-c", typed], { cwd: folder }).catch(
    (error: { stdout: string; code: number }) => ({ stdout: `${error.stdout} exit ${error.code}` }),
  );
  return { code: stdout.includes(" exit ") ? 1 : 0, stdout };
}

describe("untrusted text", () => {
  it("makes no line, colour or command in a list, and JSON holds the same value", async () => {
    const folder = await hostileStore();
    for (const args of [["approvals"], ["calls", HOSTILE], ["ps"], ["why", HOSTILE], ["inspect", HOSTILE]]) {
      const said = await toolwright(folder, args);
      expectHarmless(said.stdout);
      expectHarmless(said.stderr);
      const json = await toolwright(folder, [...args, "--json"]);
      expectHarmless(json.stdout);
      expect(() => json.json()).not.toThrow();
    }
    const rows = (await toolwright(folder, ["approvals", "--json"])).json();
    expect(rows).toMatchObject([
      { runId: HOSTILE, toolName: HOSTILE, prompt: HOSTILE, args: { to: HOSTILE } },
    ]);
  });

  it.runIf(process.platform === "linux")("makes none on a terminal with colours enabled", async () => {
    const folder = await hostileStore();
    const line = `'${process.execPath}' '${MAIN}' approvals`;
    const env = { ...process.env, TERM: "xterm", NO_COLOR: "" };
    const { stdout } = await promisify(execFile)("script", ["-qfec", line, "/dev/null"], {
      cwd: folder,
      env,
    });
    expect(stdout).toContain("\u001B[1mapr_");
    expectHarmless(stdout.replaceAll("\u001B[1m", "").replaceAll("\u001B[22m", "").replaceAll("\r\n", "\n"));
  });

  it("makes none in errors, hints and stacks", async () => {
    const folder = await hostileStore();
    for (const args of [
      ["why", `${HOSTILE}2`],
      ["approve", HOSTILE, "--args", HOSTILE],
      [HOSTILE],
      ["up", HOSTILE],
    ]) {
      for (const more of [[], ["--debug"], ["--json"]]) {
        const said = await toolwright(folder, [...args, ...more]);
        expect(said.code).toBe(1);
        expectHarmless(said.stdout);
        expectHarmless(said.stderr);
      }
    }
  });

  it("makes none in a fixture that is printed, which holds the same value", async () => {
    const folder = createFolder();
    const say = defineTool({
      name: "say",
      schema: z.object({ text: z.string() }),
      execute: ({ text }) => text,
    });
    const hidden = `${HOSTILE}\u00AD\u061C\u180E\u206A\u3164\uFEFF\uFFF9\u{1D173}\u{E0100}`;
    {
      await using runtime = createRuntime({ store: join(folder, "toolwright.db"), recording: "keep" });
      await runtime.run({ runId: "r", name: HOSTILE }, () => runtime.call(say, { text: hidden }));
    }
    const { stdout, json } = await toolwright(folder, ["record", "r"]);
    expectHarmless(stdout);
    expect(stdout).not.toMatch(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
    expect(json()).toMatchObject({ calls: [{ input: { text: hidden } }] });
  });

  it("makes none in the lines of a run, whose printed commands work when they are pasted", async () => {
    const folder = createFolder({
      "w.tsx": QUESTIONS.replace('name="questions"', `name={${JSON.stringify(HOSTILE)}}`),
    });
    const waiting = await toolwright(folder, ["up", "w.tsx", "--run-id", HOSTILE]);
    expect(waiting.code).toBe(3);
    expectHarmless(waiting.stdout);
    const lines = (await toolwright(folder, ["approvals"])).stdout.split("\n");
    const approve = lines.find((line) => /^ *(?:npx toolwright|node \S+) approve /.test(line)) ?? "";
    expect(approve).toMatch(/ --resume$/);
    expect(await paste(folder, approve.replace(/ --resume$/, ""))).toMatchObject({ code: 0 });
    const why = await toolwright(folder, ["why", HOSTILE]);
    expectHarmless(why.stdout);
    const resume =
      why.stdout.split("\n").find((line) => /^ *(?:npx toolwright|node \S+) resume /.test(line)) ?? "";
    const again = await paste(folder, resume);
    expect(again.stdout).toMatch(/task start finished/);
    expectHarmless(again.stdout);
  });

  it("is pasted as one word even when it begins with a dash", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS });
    await toolwright(folder, ["up", "w.tsx", "--run-id", "--json"]);
    await toolwright(folder, ["approve", "--", "--json"]);
    const why = await toolwright(folder, ["why", "--", "--json"]);
    const resume =
      why.stdout.split("\n").find((line) => /^ *(?:npx toolwright|node \S+) resume /.test(line)) ?? "";
    expect((await paste(folder, resume)).stdout).toMatch(/task start finished/);
  });
});

describe("a run that is named like a request", () => {
  const request = async (folder: string, runId: string): Promise<string> => {
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      schema: z.object({ to: z.string() }),
      needsApproval: true,
      sideEffect: true,
      idempotent: false,
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    await using runtime = createRuntime({ store: join(folder, "toolwright.db") });
    const outcome = await runtime.call(pay, { to: runId }, { runId });
    return outcome.status === "pending" ? outcome.approval.id : "";
  };
  const statusOf = async (folder: string): Promise<Record<string, string>> => {
    const rows = (await toolwright(folder, ["approvals", "--status", "all", "--json"])).json();
    return Object.fromEntries(
      (rows as { id: string; status: string }[]).map(({ id, status }) => [id, status]),
    );
  };

  it("is not approved instead of the request, whether the request is open, settled or gone", async () => {
    const folder = createFolder();
    const mine = await request(folder, "mine");
    const other = await request(folder, mine);
    expect((await toolwright(folder, ["approve", mine])).code).toBe(0);
    expect(await statusOf(folder)).toEqual({ [mine]: "approved", [other]: "pending" });
    expect((await toolwright(folder, ["approve", mine])).code).toBe(1);
    expect(await statusOf(folder)).toMatchObject({ [other]: "pending" });

    const third = await request(folder, "apr_gone");
    const refused = await toolwright(folder, ["approve", "apr_gone"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(third) });
    expect(await statusOf(folder)).toMatchObject({ [third]: "pending" });
  });
});

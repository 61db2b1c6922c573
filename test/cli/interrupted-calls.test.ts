/** An interrupted effect: what the commands show about it, and the three printed decisions. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFolder, start, toolwright } from "./command.ts";
import { paste } from "./paste.ts";
import { atTerminal } from "./terminal.ts";

/** Sends a mail, and dies right after it while DIE is set. The tool has no key to pass on. */
const MAIL = `
import { appendFileSync } from "node:fs";
import { createSmithers, defineTool } from "toolwright";
import { z } from "zod";
const send = defineTool({
  name: "send_mail",
  description: "Sends a mail.",
  schema: z.object({ to: z.string() }),
  OUTPUT
  sideEffect: true,
  idempotent: false,
  execute: ({ to }, ctx) => {
    ctx.log.info("sending");
    appendFileSync("mails.txt", to + "\\n");
    if (process.env["DIE"] !== undefined) process.kill(process.pid, "SIGKILL");
    return { id: "m-2" };
  },
});
const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ id: z.string() }) });
export default smithers(() => (
  <Workflow name="mails">
    <Task id="send" output={outputs.output} retries={0}>{() => send.execute({ to: "ann" })}</Task>
  </Workflow>
));
`;

const PROMISED = "outputSchema: z.object({ id: z.string() }),";
const mails = (folder: string): string => readFileSync(join(folder, "mails.txt"), "utf8");

/** A run that was killed right after its effect, and resumed: it waits for approval. */
async function interrupted(output = PROMISED, store: readonly string[] = []) {
  const folder = createFolder({ "w.tsx": MAIL.replace("OUTPUT", output) });
  await toolwright(folder, ["up", "w.tsx", "--run-id", "r", ...store], { env: { DIE: "1" } });
  const waiting = await toolwright(folder, ["resume", "r", ...store]);
  expect(waiting).toMatchObject({ code: 3 });
  const listed = await toolwright(folder, ["approvals", "--json", ...store]);
  const [request] = listed.json() as { id: string; kind: string }[];
  expect(request).toMatchObject({ kind: "replay", toolName: "send_mail", resolution: null });
  return { folder, id: request?.id ?? "" };
}

it("shows and explains three commands in approvals, why and inspect", async () => {
  const { folder, id } = await interrupted();
  for (const args of [["approvals"], ["why", "r"], ["inspect", "r"]]) {
    const { stdout } = await toolwright(folder, args);
    expect(stdout).toMatch(
      new RegExp(
        `It happened: .*:\\n.* approve ${id} --happened '<output as JSON>' --resume\\n` +
          `.*Run it again: if it happened, it happens twice:\\n.* approve ${id} --run-again --resume\\n` +
          `.*Give up: .*:\\n.* deny ${id} --give-up --resume\\n`,
      ),
    );
  }
  expect((await toolwright(folder, ["why", "r"])).stdout).toMatch(/send_mail.*was interrupted/);
});

it.each(["approve", "deny"])(
  "refuses a bare %s with the three commands, and decides nothing",
  async (verb) => {
    const { folder, id } = await interrupted();
    for (const named of [id, "r"]) {
      const bare = await toolwright(folder, [verb, named]);
      expect(bare.code).toBe(1);
      expect(bare.stderr).toMatch(/interrupted call[^]*--happened[^]*--run-again[^]*--give-up/);
    }
    const asJson = await toolwright(folder, [verb, id, "--json"]);
    expect(asJson.json()).toMatchObject({
      error: {
        code: "TOOL_OPTION_INVALID",
        hint: expect.stringMatching(/--happened[^]*--run-again[^]*--give-up/),
      },
    });
    expect((await toolwright(folder, ["approvals", "--json"])).json()).toHaveLength(1);
    expect(mails(folder)).toBe("ann\n");
  },
);

it("is decided and resumed by one command, which the run itself prints", async () => {
  const { folder, id } = await interrupted();
  const shown = await toolwright(folder, ["resume", "r"]);
  expect(shown.stdout).toMatch(
    new RegExp(
      `It happened: .*:\\n.* approve ${id} --happened '<output as JSON>' --resume\\n` +
        `.*Run it again: .*:\\n.* approve ${id} --run-again --resume\\n` +
        `.*Give up: .*:\\n.* deny ${id} --give-up --resume\\n`,
    ),
  );
  const args = ["approve", id, "--happened", '{"id":"m-1"}', "--resume", "--json"];
  expect((await toolwright(folder, args)).json()).toMatchObject({
    status: "finished",
    output: { id: "m-1" },
    decision: { resolution: "happened" },
  });
  expect(mails(folder)).toBe("ann\n");
});

it.runIf(process.platform === "linux")("offers three decisions with --ask on a terminal", async () => {
  const { folder } = await interrupted();
  const { code, screen } = await atTerminal(folder, "resume r --ask", [
    ["[g]ive up", "h\r"],
    ["output> ", '{"id":"m-1"}\r'],
  ]);
  for (const label of ["It happened:", "Run it again:", "Give up:"]) expect(screen).toContain(label);
  expect(screen).toMatch(/finished r/);
  expect(code).toBe(0);
  expect(mails(folder)).toBe("ann\n");
});

describe("each decision", () => {
  it("happened: the run finishes with the reported output, and nothing is sent again", async () => {
    const { folder, id } = await interrupted();
    const missing = await toolwright(folder, ["approve", id, "--happened"]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/needs it as output.*"id"/) });
    const wrong = await toolwright(folder, ["approve", id, "--happened", '{"id":7}']);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("stays open") });
    const pasted = await toolwright(folder, ["approve", id, "--happened", "<output as JSON>"]);
    expect(pasted).toMatchObject({ code: 1, stderr: expect.stringContaining("not valid JSON") });
    const decided = await toolwright(folder, ["approve", id, "--happened", '{"id":"m-1"}', "--json"]);
    expect(decided.json()).toMatchObject({ status: "approved", resolution: "happened" });
    const done = await toolwright(folder, ["resume", "r", "--json"]);
    expect(done.json()).toMatchObject({ status: "finished", output: { id: "m-1" } });
    expect(mails(folder)).toBe("ann\n");
    const calls = (await toolwright(folder, ["calls", "r", "--json"])).json();
    expect(calls).toMatchObject([{ status: "success", approvalId: id }]);
  });

  it("run-again: it runs once more", async () => {
    const { folder, id } = await interrupted();
    const decided = await toolwright(folder, ["approve", id, "--run-again"]);
    expect(decided).toMatchObject({ code: 0, stdout: expect.stringMatching(/^run-again apr_[^]*resume r/) });
    const done = await toolwright(folder, ["resume", "r", "--json"]);
    expect(done.json()).toMatchObject({ status: "finished", output: { id: "m-2" } });
    expect(mails(folder)).toBe("ann\nann\n");
  });

  it("give-up: the run fails, says that the effect may have happened, and why suggests no resume", async () => {
    const { folder, id } = await interrupted();
    expect(await toolwright(folder, ["deny", id, "--give-up", "--comment", "leave it"])).toMatchObject({
      code: 0,
    });
    const failed = await toolwright(folder, ["resume", "r"]);
    expect(failed.code).toBe(1);
    const why = await toolwright(folder, ["why", "r", "--json"]);
    const { because, next } = why.json() as { because: string[]; next: { action: string }[] };
    expect(because.join("\n")).toMatch(/given up\. It may have happened[^]*leave it/);
    expect(next.map(({ action }) => action)).not.toContain("resume");
    expect(mails(folder)).toBe("ann\n");
  });

  it("works as printed, with another store and a tool without an output schema", async () => {
    const { folder } = await interrupted("", ["--store", "my store.db"]);
    const { stdout } = await toolwright(folder, ["approvals", "--store", "my store.db"]);
    const line =
      stdout
        .split("\n")
        .find((text) => text.includes("--happened"))
        ?.trim() ?? "";
    expect(line).toMatch(/--happened --resume --store 'my store.db'$/);
    // The decision is recorded and the run resumes. It then fails, because the decision lacks the output of its task.
    const { output } = paste(folder, line);
    expect(output).toMatch(/^happened apr_[^]*failed r: /);
    expect(mails(folder)).toBe("ann\n");
    const listed = await toolwright(folder, [
      "approvals",
      "--status",
      "all",
      "--json",
      "--store",
      "my store.db",
    ]);
    expect(listed.json()).toMatchObject([{ resolution: "happened" }]);
  });
});

it.each([
  [["approve", "ID", "--happened", "1", "--run-again"], "cannot be combined"],
  [["approve", "ID", "--args", "{}", "--run-again"], "cannot be combined"],
  [["deny", "ID", "--run-again"], "unknown option"],
])("refuses %j", async (args, words) => {
  const folder = createFolder();
  const refused = await toolwright(folder, args);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(words);
});

/** A command in a function task: no model reads its result. */
const COMMAND = `
import { bash, createSmithers } from "toolwright";
import { z } from "zod";
const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ said: z.string() }) });
export default smithers(() => (
  <Workflow name="commands">
    <Task id="run" output={outputs.output} retries={2}>
      {async () => ({ said: await bash.execute({ cmd: "sh", args: ["-c", "SCRIPT"] }) })}
    </Task>
  </Workflow>
));
`;

describe("bash in a task that is a function", () => {
  it("runs in every attempt, and the run fails with the real error", async () => {
    const folder = createFolder({
      "w.tsx": COMMAND.replace("SCRIPT", "echo x >> runs.txt; echo broken >&2; exit 3"),
    });
    const failed = await toolwright(folder, ["up", "w.tsx", "--run-id", "r", "--json"]);
    expect(failed.code).toBe(1);
    expect(readFileSync(join(folder, "runs.txt"), "utf8")).toBe("x\nx\nx\n");
    const why = await toolwright(folder, ["why", "r"]);
    expect(why.stdout).toContain("broken");
    expect(why.stdout).not.toMatch(/UNKNOWN/);
    // A resume is another attempt, as why says.
    expect(why.stdout).toMatch(/resume r/);
    await toolwright(folder, ["resume", "r"]);
    expect(readFileSync(join(folder, "runs.txt"), "utf8")).toHaveLength(8);
  });

  it("requests approval after Ctrl-C, and finishes after the decision", async () => {
    const script = "echo x >> runs.txt; test -e go || { touch started; sleep 60; }; echo fine";
    const folder = createFolder({ "w.tsx": COMMAND.replace("SCRIPT", script) });
    const run = start(folder, ["up", "w.tsx", "--run-id", "r"]);
    await expect.poll(() => existsSync(join(folder, "started"))).toBe(true);
    run.child.kill("SIGINT");
    expect(await run.ended).toMatchObject({ code: 1 });
    expect(await toolwright(folder, ["resume", "r"])).toMatchObject({ code: 3 });
    const [request] = (await toolwright(folder, ["approvals", "--json"])).json() as { id: string }[];
    expect(request).toMatchObject({ kind: "replay", toolName: "bash" });
    expect((await toolwright(folder, ["why", "r"])).stdout).toContain("--run-again");
    await toolwright(folder, ["approve", request?.id ?? "", "--run-again"]);
    writeFileSync(join(folder, "go"), "");
    const done = await toolwright(folder, ["resume", "r", "--json"]);
    expect(done.json()).toMatchObject({
      status: "finished",
      output: { said: expect.stringContaining("fine") },
    });
    expect(readFileSync(join(folder, "runs.txt"), "utf8")).toBe("x\nx\n");
  });
});

/** `toolwright serve`, as a user starts it. */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFolder, start, toolwright } from "../cli/command.ts";
import { GREETING, QUESTIONS } from "../cli/workflows.ts";
import { ask, errorOf, openEvents } from "./harness.ts";

const CONFIG = 'export default { workflows: { hello: "./greeting.tsx", questions: "./questions.tsx" } };\n';
const FILES = { "toolwright.config.ts": CONFIG, "greeting.tsx": GREETING, "questions.tsx": QUESTIONS };

interface Served {
  readonly url: string;
  readonly token: string | null;
}

/** Starts the command, and resolves when it serves. */
async function startServing(
  folder: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) {
  const command = start(folder, ["serve", "--port", "0", "--json", ...args], { env });
  await command.saying("}\n");
  const { url, token } = JSON.parse(command.printed()) as Served;
  return { command, served: { url }, isTokenPrinted: token !== null, token: token ?? "" };
}

test("prints one line with the address and the sign-in link; a signal ends it", async () => {
  const folder = createFolder(FILES);
  const command = start(folder, ["serve", "--port", "0"]);
  await command.saying("sign-in?code=");
  command.child.kill("SIGTERM");
  const { code, stdout } = await command.ended;
  expect(code).toBe(0);
  expect(stdout.trim().split("\n")).toHaveLength(1);
  expect(stdout).toMatch(
    /^Serving toolwright\.db at http:\/\/127\.0\.0\.1:\d+ +Sign in: http:\/\/127\.0\.0\.1:\d+\/sign-in\?code=\S+\n$/,
  );
});

test("starts and resumes the workflows of the config, and prints commands that fit", async () => {
  const folder = createFolder(FILES);
  const { command, served, token } = await startServing(folder);
  const events = await openEvents(served, "", token);
  expect(await events.next()).toEqual({ name: "snapshot", data: { runs: [], next: null } });
  const started = await ask(served, "/runs", {
    token,
    body: { workflow: "hello", input: { name: "Ada" }, runId: "h-1" },
  });
  expect(started).toMatchObject({ status: 202, body: { runId: "h-1" } });
  await events.until(({ data }) => JSON.stringify(data).includes('"status":"finished"'));
  const inspected = await toolwright(folder, ["inspect", "h-1", "--json"]);
  expect(inspected.json()).toMatchObject({ status: "finished", file: join(folder, "greeting.tsx") });
  expect((await ask(served, "/runs", { token, body: { workflow: "hello", input: {} } })).status).toBe(422);
  command.child.kill("SIGINT");
  expect((await command.ended).code).toBe(0);
});

test("no tool of one run changes the code that the server loads for a run of another workflow", async () => {
  const mark = `import { writeFileSync } from "node:fs";\nwriteFileSync("PWNED", "");\n`;
  const attack = `
    import { createSmithers } from "toolwright";
    import { writeFileTool } from "toolwright/tools";
    import { z } from "zod";
    const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.object({ done: z.string() }) });
    const attempt = (path: string) => writeFileTool(path, ${JSON.stringify(mark)}).then(() => "written", (e) => e.code);
    const files = ["hello.tsx", "words.ts", "missing.tsx", "broken.tsx", "broken-words.ts"];
    export default smithers(() => (
      <Workflow name="attack">
        <Task id="plant" output={outputs.output}>
          {async () => ({ done: (await Promise.all(files.map(attempt))).join() })}
        </Task>
      </Workflow>
    ));`;
  const folder = createFolder({
    "toolwright.config.ts":
      'export default { workflows: { attack: "./attack.tsx", hello: "./hello.tsx", missing: "./missing.tsx", broken: "./broken.tsx" } };\n',
    "attack.tsx": attack,
    "hello.tsx": `import "./words.ts";\n${GREETING}`,
    "words.ts": "export {};\n",
    "broken.tsx": `import "./broken-words.ts";\n`,
  });
  const { served, token } = await startServing(folder);
  const events = await openEvents(served, "", token);
  const run = (workflow: string) =>
    ask(served, "/runs", { token, body: { workflow, input: { name: "Ada" }, runId: workflow } });
  expect(await run("attack")).toMatchObject({ status: 202 });
  await events.until(({ data }) => JSON.stringify(data).includes('"status":"finished"'));
  // Only what is loaded by name is protected.
  expect(readFileSync(join(folder, "words.ts"), "utf8")).toContain("PWNED");
  expect(readFileSync(join(folder, "hello.tsx"), "utf8")).not.toContain("PWNED");
  expect(await run("hello")).toMatchObject({ status: 202 });
  for (const name of ["missing", "broken"]) {
    const refused = await run(name);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(errorOf(refused).message).toContain("estart the process");
  }
  expect(existsSync(join(folder, "PWNED"))).toBe(false);
});

test("a run that another process left behind is resumed here if its workflow is served, else the command is named", async () => {
  const folder = createFolder(FILES);
  await toolwright(folder, ["up", "questions", "--run-id", "q-1"]);
  const elsewhere = createFolder();
  const store = join(folder, "toolwright.db");
  const { served, token } = await startServing(elsewhere, ["--store", store]);
  const answer = await ask(served, "/runs/q-1/resume", { token, body: {} });
  expect(answer).toMatchObject({
    status: 202,
    body: { resumed: false, command: expect.stringContaining("resume q-1") },
  });
  expect((answer.body as { command: string }).command).toContain(`--store ${store}`);
  const own = await startServing(folder);
  const resumed = await ask(own.served, "/runs/q-1/resume", { token: own.token, body: {} });
  expect(resumed).toMatchObject({ status: 202, body: { resumed: true } });
});

test("the token of --token or TOOLWRIGHT_TOKEN is used and never printed", async () => {
  for (const [args, env] of [
    [["--token", "a-secret-token"], {}],
    [[], { TOOLWRIGHT_TOKEN: "a-secret-token" }],
    [["--token", "a-secret-token"], { TOOLWRIGHT_TOKEN: "another" }],
  ] as const) {
    const { command, served, isTokenPrinted } = await startServing(createFolder(), args, env);
    expect(isTokenPrinted).toBe(false);
    expect((await ask(served, "/runs", { token: "a-secret-token" })).status).toBe(200);
    expect((await ask(served, "/runs", { token: "another" })).status).toBe(401);
    command.child.kill("SIGTERM");
    const { stdout, stderr } = await command.ended;
    expect(stdout + stderr).not.toContain("a-secret-token");
  }
});

test("--read-only refuses decisions and commands", async () => {
  const folder = createFolder(FILES);
  await toolwright(folder, ["up", "questions", "--run-id", "q-1"]);
  const { served, token } = await startServing(folder, ["--read-only"]);
  expect((await ask(served, "/runs/q-1", { token })).status).toBe(200);
  const refused = await ask(served, "/runs/q-1/cancel", { token, body: {} });
  expect(refused.status).toBe(403);
  expect(errorOf(refused).message).toContain("read-only");
});

test("a port that is taken is a clear error", async () => {
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await toolwright(createFolder(), ["serve", "--port", String(port)]);
  expect(code).toBe(1);
  expect(stderr).toContain(`127.0.0.1:${port}`);
  expect(stderr).toContain("another program uses it");
  expect(stderr).toContain("Choose another port");
});

test.each([
  [["--host", "0.0.0.0"], "token"],
  [["--port", "70000"], "65535"],
  [["--port", "http"], "whole number"],
  [["--token", ""], "--token"],
  [["--token", "with space"], "--token"],
  [["--allowed-origin", "null"], "allowedOrigins"],
  [["--allowed-host", "https://a.example"], "allowedHosts"],
])("refuses %j", async (args, message) => {
  const { code, stderr } = await toolwright(createFolder(), ["serve", ...args]);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});

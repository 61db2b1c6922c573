/** `toolwright up`: the files that it loads, its options and its output. */
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createRuntime } from "toolwright";
import { expect, it } from "vitest";
import { createFolder, MAIN, toolwright } from "./command.ts";
import { EFFECTS, GREETING } from "./workflows.ts";

it("runs a .tsx file in a folder that has neither a tsconfig nor node_modules", async () => {
  const folder = createFolder({ "greeting.tsx": GREETING });
  const { code, stdout, stderr } = await toolwright(folder, [
    "up",
    "greeting.tsx",
    "--input",
    '{"name":"ann"}',
    "--run-id",
    "g1",
  ]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toMatch(/run g1 started\ntask greet running\ntask greet finished after .*\nfinished g1\n/);
  expect(stdout).toContain('"text": "hello ann"');
});

it("prints one JSON object with --json, even if the workflow itself prints", async () => {
  const folder = createFolder({ "w.tsx": `console.log("noise");\n${GREETING}` });
  const result = await toolwright(folder, ["up", "w.tsx", "--input", '{"name":"ann"}', "--json"]);
  expect(result.json()).toEqual({
    runId: expect.any(String),
    status: "finished",
    output: { text: "hello ann" },
    outputs: { input: [], output: [{ text: "hello ann" }] },
    error: null,
    file: join(folder, "w.tsx"),
    store: join(folder, "toolwright.db"),
  });
  expect(result.stderr).toContain("noise");
});

it("takes the input from a file and from stdin", async () => {
  const folder = createFolder({ "w.tsx": GREETING, "input.json": '{"name":"file"}' });
  const fromFile = await toolwright(folder, ["up", "w.tsx", "--input", "@input.json", "--json"]);
  expect(fromFile.json()).toMatchObject({ output: { text: "hello file" } });
  const fromStdin = await toolwright(folder, ["up", "w.tsx", "--input", "-", "--json"], {
    stdin: '{"name":"stdin"}',
  });
  expect(fromStdin.json()).toMatchObject({ output: { text: "hello stdin" } });
});

it("loads every kind of file, with imports as TypeScript and as Node write them", async () => {
  const plain = GREETING.replace("hello ", "${word()} ").replace(
    "import { z }",
    'import { word } from "./word.js";\nimport { z }',
  );
  const typed = plain.replace("(ctx) =>", "(ctx: { input: { name: string } } & any) =>");
  const noJsx = plain.replace(
    /export default[^]*$/,
    'import { jsx } from "toolwright/jsx-runtime";\nexport default smithers(() => jsx(Workflow, { name: "n", children: jsx(Task, { id: "t", output: outputs.output, children: { text: word() } }) }));',
  );
  const folder = createFolder({
    "w.tsx": typed,
    "w.jsx": plain,
    "w.js": plain,
    "w.mjs": plain,
    "w.ts": noJsx,
    "x.tsx": typed.replace("./word.js", "./word"),
    "word.ts": 'export const word = (): string => "hi";',
  });
  const files = ["w.tsx", "w.jsx", "w.js", "w.mjs", "w.ts", "x.tsx"];
  const results = await Promise.all(
    files.map((file) =>
      toolwright(folder, ["up", file, "--input", '{"name":"ann"}', "--json", "--store", `${file}.db`]),
    ),
  );
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(files.map(() => [0, ""]));
  expect(results.map((result) => (result.json() as { output: unknown }).output)).toEqual(
    files.map((file) => ({ text: file === "w.ts" ? "hi" : "hi ann" })),
  );
});

it("gives the file this same package, and prefers packages of its own folder", async () => {
  const folder = createFolder({
    "w.tsx": `${GREETING}\nconsole.error(import.meta.resolve("toolwright"), import.meta.dirname);`,
  });
  const { stderr } = await toolwright(folder, ["up", "w.tsx", "--input", '{"name":"a"}', "--json"]);
  const own = pathToFileURL(resolve(import.meta.dirname, "../../dist/index.js")).href;
  expect(stderr).toContain(`${own} ${folder}`);
});

it("stores the options, and the root of tools is the folder of the file", async () => {
  const folder = createFolder({ "w.tsx": EFFECTS });
  const elsewhere = createFolder();
  const args = [
    "--run-id",
    "o",
    "--allow-network",
    "--max-output-bytes",
    "5000",
    "--tool-timeout-ms",
    "7000",
  ];
  const { code } = await toolwright(elsewhere, ["up", join(folder, "w.tsx"), ...args, "--concurrency", "2"]);
  expect(code).toBe(0);
  const inspected = await toolwright(elsewhere, ["inspect", "o", "--json"]);
  expect(inspected.json()).toMatchObject({
    file: join(folder, "w.tsx"),
    options: {
      rootDir: folder,
      allowNetwork: true,
      maxOutputBytes: 5_000,
      timeoutMs: 7_000,
      maxConcurrency: 2,
    },
  });
});

it("refuses a run id that is taken, and says where to look", async () => {
  const folder = createFolder({ "w.tsx": GREETING });
  const args = ["up", "w.tsx", "--input", '{"name":"a"}', "--run-id", "twice"];
  await toolwright(folder, args);
  const second = await toolwright(folder, args);
  expect(second.code).toBe(1);
  expect(second.stdout).toBe("");
  expect(second.stderr).toMatch(/Run "twice" already exists[^]*inspect twice/);
});

it("refuses the run id of an enqueued program, and does not offer to resume that as a workflow", async () => {
  const folder = createFolder({ "w.tsx": GREETING });
  const args = ["--input", '{"name":"a"}', "--run-id", "taken"];
  await using runtime = createRuntime({ store: join(folder, "toolwright.db") });
  await runtime.enqueue("report", { kind: "program", runId: "taken" });
  const up = await toolwright(folder, ["up", "w.tsx", ...args]);
  expect(up.code).toBe(1);
  expect(up.stderr).toMatch(/Run "taken" already exists[^]*"program"[^]*inspect taken/);
  expect(up.stderr).not.toContain("resume taken");
  const resume = await toolwright(folder, ["resume", "taken"]);
  expect(resume.code).toBe(3);
  expect(resume.stdout).toMatch(/taken: It is queued[^]*worker/);
});

it("shows a failed run, its reason and the next command, with exit code 1", async () => {
  const folder = createFolder({
    "w.tsx": GREETING.replace(/\{\(\) => \(.*\)\}</, '{() => { throw new Error("no words"); }}<'),
  });
  const failed = await toolwright(folder, ["up", "w.tsx", "--input", '{"name":"a"}', "--run-id", "f"]);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(/failed f: .*no words[^]*why f[^]*resume f/);
  const why = await toolwright(folder, ["why", "f"]);
  expect(why.stdout).toMatch(
    /^Run f of "greeting" failed: [^]*Task "greet" failed in attempt 3: no words[^]*Next:\n/,
  );
});

it.runIf(process.platform === "linux")("draws a tree on a terminal, without colours when asked", () => {
  const folder = createFolder({ "w.tsx": GREETING });
  const line = `${process.execPath} ${MAIN} up w.tsx --input '{"name":"ann"}' --run-id t`;
  const draw = (more: string, env: Record<string, string>): string =>
    spawnSync("script", ["-qfec", line + more, "/dev/null"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, TERM: "xterm", ...env },
    }).stdout;
  const coloured = draw("", { NO_COLOR: "" });
  expect(coloured).toMatch(/greeting.* t {2}1 of 1 tasks/);
  expect(coloured).toContain("\u001B[32m✔");
  const plain = draw("2 --no-color", { NO_COLOR: "" });
  expect(plain).toMatch(/✔ greet/);
  expect(plain).not.toContain("\u001B[3");
  expect(draw("3", { NO_COLOR: "1" })).not.toContain("\u001B[3");
});

it("exits when the run ends, even if the workflow's own code left handles open", async () => {
  const folder = createFolder({ "w.tsx": `setInterval(() => undefined, 1_000);\n${GREETING}` });
  const ended = await toolwright(folder, ["up", "w.tsx", "--input", '{"name":"ann"}', "--json"]);
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.json()).toMatchObject({ status: "finished" });
});

it("reports an uncaught exception in a sentence, and the run can be resumed", async () => {
  const folder = createFolder({
    "w.tsx": GREETING.replace(
      /\{\(\) => \(.*\)\}</,
      '{() => new Promise(() => setTimeout(() => { throw new Error("lost"); }, 10))}<',
    ),
  });
  const crashed = await toolwright(folder, ["up", "w.tsx", "--input", '{"name":"a"}', "--run-id", "c"]);
  expect(crashed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^toolwright: lost\n(?!.*\n {4}at )/),
  });
  expect((await toolwright(folder, ["ps", "--json"])).json()).toMatchObject([
    { runId: "c", interrupted: true },
  ]);
});

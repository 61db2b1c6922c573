/** The live tree on a real terminal: what the user sees at the end. */
import { describe, expect, it } from "vitest";
import { createFolder, toolwright } from "./command.ts";
import { atTerminal, linesSeen } from "./terminal.ts";
import { GREETING, QUESTIONS } from "./workflows.ts";

/** Three tasks, of which the second one hangs while HANG is set, with a loop around the third. */
const STEPS = `
import { createSmithers } from "toolwright";
import { z } from "zod";
const { Workflow, Task, Loop, Sequence, smithers, outputs } = createSmithers({ output: z.number() });
const hang = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve, reject) => {
    if (process.env["HANG"] === undefined) resolve(2);
    else if (process.env["DEAF"] === undefined) signal.addEventListener("abort", () => reject(new Error("stopped")));
    const timer = setInterval(() => undefined, 60_000);
    signal.addEventListener("abort", () => process.env["DEAF"] === undefined && clearInterval(timer));
    if (process.env["HANG"] === undefined) clearInterval(timer);
    else console.log("second hangs");
  });
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
export default smithers((ctx) => (
  <Workflow name="steps">
    <Loop id="loop" until={(ctx.latest("output", "first") ?? 0) >= 1} maxIterations={3}>
      <Task id="first" output={outputs.output}>{() => ctx.iteration}</Task>
    </Loop>
    <Task id="skipped" output={outputs.output} skipIf={true}>{() => 9}</Task>
    <Task id="second" output={outputs.output} retries={0}>{() => hang(stop.signal)}</Task>
    <Task id="third" output={outputs.output}>{() => 3}</Task>
  </Workflow>
));
`;

describe.runIf(process.platform === "linux")("the live tree", () => {
  it("of a resume shows finished tasks as finished, before and after the rest", async () => {
    const folder = createFolder({ "w.tsx": STEPS });
    for (const command of ["up w.tsx --run-id r", "resume r"]) {
      const stopped = await atTerminal(folder, command, [[/second hangs[^]*● second/, "\u0003"]], {
        env: { HANG: "1" },
      });
      expect(stopped.code).toBe(1);
      expect(linesSeen(stopped.screen).join("\n")).toMatch(
        /steps r {2}2 of 4 tasks, .*\n {2}loop\n {4}✔ first {2}\d+ ms {2}pass 2\n {2}– skipped .*\n {2}[●✖] second .*\n {2}○ third\n/,
      );
    }
    const { code, screen } = await atTerminal(folder, "resume r");
    expect(code).toBe(0);
    expect(linesSeen(screen).join("\n")).toMatch(
      /^steps r {2}4 of 4 tasks, .*\n {2}loop\n {4}✔ first .*\n {2}– skipped .*\n {2}✔ second .*\n {2}✔ third .*\nfinished r\n/,
    );
  });

  it("shows a run that waited with the tasks that finished before", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS });
    await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
    await toolwright(folder, ["approve", "q", "--resume"]);
    await toolwright(folder, ["approve", "q"]);
    const { screen } = await atTerminal(folder, "resume q");
    expect(linesSeen(screen).join("\n")).toMatch(
      /^questions q {2}2 of 2 tasks.*\n {2}✔ start .*\n {2}✔ pay /,
    );
  });

  it("is not drawn for a refused resume", async () => {
    const folder = createFolder({ "w.tsx": QUESTIONS, "g.tsx": GREETING });
    await toolwright(folder, ["up", "w.tsx", "--run-id", "q"]);
    await toolwright(folder, ["up", "g.tsx", "--run-id", "done", "--input", '{"name":"a"}']);
    for (const [line, words] of [
      ["resume q --file g.tsx", /has changed/],
      ["up w.tsx --run-id q", /exists|taken|already/],
      ["up g.tsx --input '{}'", /does not match/],
      ["resume done", /is finished/],
      ["resume nothing", /There is no run/],
    ] as const) {
      const { code, screen } = await atTerminal(folder, line);
      expect([line, code]).toEqual([line, 1]);
      expect(linesSeen(screen)[0]).toMatch(/^toolwright: /);
      expect(screen).toMatch(words);
      expect(screen).not.toMatch(/\d of \d tasks/);
    }
  });

  it("stays whole when Ctrl-C is pressed", async () => {
    const folder = createFolder({ "w.tsx": STEPS });
    const { screen } = await atTerminal(
      folder,
      "up w.tsx --run-id r",
      [[/second hangs[^]*● second/, "\u0003"]],
      {
        env: { HANG: "1" },
      },
    );
    const seen = linesSeen(screen);
    expect(seen.join("\n")).toMatch(
      /^second hangs\nSIGINT: stopping the run\. .*\nsteps r {2}2 of 4 tasks, .*\n {2}loop\n {4}✔ first .*\n {2}– skipped .*\n {2}[●✖] second .*\n {2}○ third\nstopped r\n/,
    );
    expect(seen.join("\n")).not.toContain("^C");
  });

  it("stays whole when Ctrl-C is pressed twice", async () => {
    const folder = createFolder({ "w.tsx": STEPS });
    const { code, screen } = await atTerminal(
      folder,
      "up w.tsx --run-id r",
      [
        [/second hangs[^]*● second/, "\u0003"],
        ["Send it again to exit immediately", "\u0003"],
      ],
      { env: { HANG: "1", DEAF: "1" } },
    );
    expect(code).toBe(1);
    const seen = linesSeen(screen);
    expect(seen.join("\n")).toMatch(/\nsteps r {2}2 of 4 tasks, [^]*\n {2}○ third\n*$/);
    expect(seen.join("\n")).not.toContain("^C");
  });
});

/** A user at a terminal: approvals and progress. The terminal is a real one, created by script(1). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFolder, toolwright } from "../cli/command.ts";
import { atTerminal } from "../cli/terminal.ts";
import { CONFIG } from "./project.ts";

const paid = (folder: string): string =>
  existsSync(join(folder, "paid.txt")) ? readFileSync(join(folder, "paid.txt"), "utf8") : "";

describe.runIf(process.platform === "linux")("at a terminal", () => {
  it("asks, showing the prompt and the arguments, and runs on yes", async () => {
    const folder = createFolder({ "toolwright.config.ts": CONFIG });
    const { code, screen } = await atTerminal(folder, "pay 70 --run-id r", [["Run it?", "y\r"]]);
    expect(screen).toMatch(/Pay 70 euros\?\r?\n {2}pay \{"euros":70\}\r?\n/);
    expect(screen).toMatch(/paid: 70\r?\nto: +Bo/);
    expect(code).toBe(0);
    expect(paid(folder)).toMatch(/^70 Bo \S+\n$/);
    const decided = (await toolwright(folder, ["approvals", "--status", "all", "--json"])).json();
    expect(decided).toMatchObject([{ status: "approved", decidedBy: expect.any(String) }]);
  });

  it("treats Enter as no", async () => {
    const folder = createFolder({ "toolwright.config.ts": CONFIG });
    const { code } = await atTerminal(folder, "pay 70", [["Run it?", "\r"]]);
    expect({ code, paid: paid(folder) }).toEqual({ code: 4, paid: "" });
  });

  it("lets the user edit the arguments, and asks again when they are invalid", async () => {
    const folder = createFolder({ "toolwright.config.ts": CONFIG });
    const clear = "\u0015";
    const { code, screen } = await atTerminal(folder, "pay 70", [
      ["Run it?", "e\r"],
      ["arguments> ", `${clear}{"euros":"x"}\r`],
      ["Run it?", "e\r"],
      ["arguments> ", `${clear}{"euros":\r`],
      ["Run it?", "e\r"],
      ["arguments> ", `${clear}{"euros":7}\r`],
    ]);
    expect(screen).toMatch(/The edited arguments are not valid for "pay"[^]*Invalid JSON/);
    expect(code).toBe(0);
    expect(paid(folder)).toMatch(/^7 Bo \S+\n$/);
  });

  it("leaves the request pending when the user leaves", async () => {
    const folder = createFolder({ "toolwright.config.ts": CONFIG });
    const left = await atTerminal(folder, "pay 70 --run-id r", [["Run it?", "\u0004"]]);
    expect(left.code).toBe(3);
    const stopped = await atTerminal(folder, "pay 70 --run-id r", [["Run it?", "\u0003"]]);
    expect(stopped.code).toBe(130);
    const open = (await toolwright(folder, ["approvals", "--json"])).json();
    expect(open).toMatchObject([{ runId: "r", status: "pending" }]);
  });

  it("asks about the outcome of an interrupted call", async () => {
    const folder = createFolder({ "toolwright.config.ts": CONFIG });
    await atTerminal(folder, "wait --run-id r", [["waiting ", "\u0003"]]);
    const question = "[r]un it again";
    const left = await atTerminal(folder, "wait --run-id r", [[question, "\r"]]);
    expect(left.code).toBe(3);
    for (const label of ["It happened:", "Run it again: if it happened, it happens twice", "Give up:"])
      expect(left.screen).toContain(label);
    expect(left.screen).toMatch(
      /approve \S+ --happened\r?\n[^]*approve \S+ --run-again\r?\n[^]*deny \S+ --give-up/,
    );
    const told = await atTerminal(folder, "wait --run-id r", [
      [question, "h\r"],
      ["output> ", '\u0015"it is done"\r'],
    ]);
    expect(told.screen).toContain("it is done");
    expect(told.code).toBe(0);
  });

  it("gives an interrupted call up, and reports that the effect may have happened", async () => {
    const folder = createFolder({ "toolwright.config.ts": CONFIG });
    await atTerminal(folder, "wait --run-id r", [["waiting ", "\u0003"]]);
    const gone = await atTerminal(folder, "wait --run-id r", [["[g]ive up", "g\r"]]);
    expect(gone.screen).toContain("It may have happened");
    expect(gone.code).toBe(4);
  });

  it("shows the progress of a long call, without control sequences of the tool", async () => {
    const folder = createFolder({ "toolwright.config.ts": CONFIG });
    const slow = await atTerminal(folder, "slow 1", []);
    expect(slow.screen).toMatch(/slow: step one \(\d+\.\d s\)/);
    // The status line is removed, so that only the result remains.
    expect(slow.screen.split("\u001B[1A\u001B[0J").at(-1)).toBe("n: 1\r\n");
    const hostile = await atTerminal(folder, "wait", [["counting", "\u0003"]]);
    expect(hostile.screen).toContain(String.raw`counting \u001b[31mpages`);
    expect(hostile.screen).not.toContain("\u001B[31m");
  });
});

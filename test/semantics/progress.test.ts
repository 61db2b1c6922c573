/** Progress that a tool reports as text or numbers. An invalid report causes a warning, and fails no call. */
import { defineTool, type ToolContext } from "toolwright";
import { expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";

async function reportsOf(report: (progress: ToolContext["progress"]) => void) {
  const runtime = await (await createWorld()).runtime();
  const reports: unknown[] = [];
  runtime.subscribe((event) => {
    if (event.type === "call-progress") reports.push({ message: event.message, data: event.data });
  });
  const tool = defineTool({
    name: "works",
    schema: z.object({}),
    execute: (_args, ctx) => {
      report(ctx.progress);
      return "done";
    },
  });
  expect(await runtime.call(tool, {}, { runId: "r1" })).toMatchObject({ status: "success", output: "done" });
  return reports;
}

it("is text with any data, or a number with a total and text", async () => {
  const reports = await reportsOf((progress) => {
    progress("reading");
    progress("reading", { page: 3 });
    progress(50, 100);
    progress(0);
    progress(3, 10, "page 3");
    progress(4, undefined, "page 4");
  });
  expect(reports).toEqual([
    { message: "reading", data: undefined },
    { message: "reading", data: { page: 3 } },
    { message: "", data: { progress: 50, total: 100 } },
    { message: "", data: { progress: 0 } },
    { message: "page 3", data: { progress: 3, total: 10 } },
    { message: "page 4", data: { progress: 4 } },
  ]);
});

it.each<[string, unknown[]]>([
  ["(NaN, 100)", [Number.NaN, 100]],
  ['(50, "100")', [50, "100"]],
  ["(50, 100, 7)", [50, 100, 7]],
  ["(an object)", [{ progress: 50 }]],
  ["()", []],
])("is dropped with a warning if it is %s", async (shown, args) => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const reports = await reportsOf((progress) => {
    (progress as (...given: unknown[]) => void)(...args);
    (progress as (...given: unknown[]) => void)(...args);
  });
  expect(reports).toEqual([]);
  const said = warn.mock.calls.flat().filter((text) => String(text).includes("ctx.progress"));
  expect(said).toEqual([
    expect.stringContaining(`takes (message, data?) or (progress, total?, message?), not ${shown}.`),
  ]);
});

/** Tables for people: within 80 columns, wider on wide terminals, and filtered by every status that they show. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { createFolder, start, toolwright } from "./command.ts";
import { EFFECTS, GREETING, QUESTIONS } from "./workflows.ts";

const widths = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));

it("fits ps, calls and tools into 80 columns, and uses the available width", async () => {
  const long = EFFECTS.replaceAll('name: "write_line"', 'name: "write_one_line_of_text_to_a_file"')
    .replace('name="effects"', 'name="a-workflow-with-a-very-long-name-indeed"')
    .replaceAll('text: "first"', 'text: "first ".repeat(30)');
  const folder = createFolder({
    "w.tsx": long,
    "q.tsx": QUESTIONS,
    "toolwright.config.ts":
      'import { contextTools } from "toolwright/tools";\nexport default { tools: contextTools };\n',
  });
  const runId = randomUUID();
  await toolwright(folder, ["up", "w.tsx", "--run-id", runId]);
  await toolwright(folder, ["up", "q.tsx", "--run-id", `waiting-${"x".repeat(60)}`]);
  for (const args of [["ps"], ["calls", runId], ["tools"]]) {
    const narrow = await toolwright(folder, args);
    expect([args, widths(narrow.stdout)]).toEqual([args, expect.toSatisfy((width: number) => width <= 80)]);
    const wide = await toolwright(folder, args, { env: { COLUMNS: "160" } });
    expect([args, widths(wide.stdout)]).toEqual([args, expect.toSatisfy((width: number) => width > 80)]);
  }
  const tools = await toolwright(folder, ["tools"], { env: { COLUMNS: "60" } });
  expect(widths(tools.stdout)).toBeLessThanOrEqual(60);
  const ps = await toolwright(folder, ["ps"]);
  expect(ps.stdout).toContain(runId);
  expect(ps.stdout).toContain(`waiting-${"x".repeat(60)}`);
});

it("T8: filters by every status that ps shows", async () => {
  const folder = createFolder({ "e.tsx": EFFECTS, "g.tsx": GREETING, "q.tsx": QUESTIONS });
  const live = start(folder, ["up", "e.tsx", "--run-id", "live"], { env: { HANG: "1" } });
  await live.saying("second is written");
  const killed = start(folder, ["up", "e.tsx", "--run-id", "killed"], { env: { HANG: "1" } });
  await killed.saying("second is written");
  killed.child.kill("SIGKILL");
  await killed.ended;
  await toolwright(folder, ["up", "g.tsx", "--run-id", "done", "--input", '{"name":"a"}']);
  await toolwright(folder, ["up", "q.tsx", "--run-id", "asks"]);
  await toolwright(folder, ["up", "q.tsx", "--run-id", "stopped"]);
  await toolwright(folder, ["cancel", "stopped"]);
  await toolwright(folder, ["up", "q.tsx", "--run-id", "broken"]);
  await toolwright(folder, ["deny", "broken"]);
  await toolwright(folder, ["resume", "broken"]);
  const expected = {
    running: ["live"],
    interrupted: ["killed"],
    finished: ["done"],
    "waiting-approval": ["asks"],
    cancelled: ["stopped"],
    failed: ["broken"],
  };
  const found = Object.fromEntries(
    await Promise.all(
      Object.keys(expected).map(async (status) => {
        const ps = await toolwright(folder, ["ps", "--status", status, "--json"]);
        return [status, (ps.json() as { runId: string }[]).map(({ runId }) => runId)] as const;
      }),
    ),
  );
  expect(found).toEqual(expected);
  const shown = await toolwright(folder, ["ps", "--status", "interrupted"]);
  expect(shown.stdout).toMatch(/\nkilled .*interrupted/);
  live.child.kill("SIGKILL");
  await live.ended;
});

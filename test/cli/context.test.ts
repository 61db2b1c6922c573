/** The seed's commands on context items, derived from the definitions: one drive:/path for both fields. */
import { expect, test } from "vitest";
import { createFolder, toolwright } from "./command.ts";

const CONFIG = `
import { capabilitiesTools, contextTools } from "toolwright/tools";
export default { tools: { ...contextTools, ...capabilitiesTools } };
`;

test("context write, read, tree and search semantic", async () => {
  const folder = createFolder({ "toolwright.config.ts": CONFIG });
  const run = (...args: string[]) => toolwright(folder, args);
  const notes = "disk:/Users/evan/notes";
  expect(
    await toolwright(folder, ["context", "write", `${notes}/meeting.md`, "-"], {
      stdin: Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join(""),
    }),
  ).toMatchObject({ code: 0, stderr: "" });
  const read = await run(
    "context",
    "read",
    `${notes}/meeting.md`,
    "--offset",
    "10",
    "--limit",
    "20",
    "--json",
  );
  expect(read.json()).toMatchObject({ content: expect.stringMatching(/^line 10\n[^]*line 29\n$/) });
  const tree = await run("context", "tree", notes, "--max-depth", "3", "--json");
  expect(tree.json()).toMatchObject({ entries: [{ path: "/Users/evan/notes/meeting.md" }] });
  expect((await run("context", "tree", "/", "--json")).json()).toMatchObject({ drives: [{ drive: "disk" }] });
  const found = await run("search", "semantic", "quarterly line", "--json");
  expect(found.json()).toMatchObject({ method: "full_text", results: [{ drive: "disk" }] });
  expect((await run("context", "refresh", "disk:/", "--json")).json()).toMatchObject({ updated: 0 });
  const taken = await run("context", "write", `${notes}/meeting.md`, "other");
  expect(taken.code).not.toBe(0);
  expect(taken.stderr).toMatch(/There is an item at disk:\/Users\/evan\/notes\/meeting\.md already/);
  expect(taken.stderr).toContain("on_conflict='overwrite'");
  expect(
    await run("context", "write", `${notes}/meeting.md`, "new", "--on-conflict", "overwrite"),
  ).toMatchObject({
    code: 0,
  });
  const wrong = await run("context", "read", "/no/drive");
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain("such as notes:/a.md");
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createTool, defineTool } from "toolwright";
import { resultFormat } from "../../src/agent/result-messages.ts";
import { cutChars, cutLines } from "../../src/agent/tools/paging.ts";
import { type CallResult, resultOf } from "../../src/loop/call-results.ts";
import type { EndedCall } from "../../src/loop/run-calls.ts";
import type { AgentMessage } from "../../src/model/messages.ts";
import { ask, call, createAgent, createWorld, user } from "./harness.ts";

interface Page {
  readonly content: string;
  readonly offset: number;
  readonly nextOffset: number | null;
  readonly totalChars: number;
}

/** Random text with surrogate pairs, lines of all lengths, and lone surrogates. */
function randomText(seed: number): string {
  const pieces = ["a", "\n", "é", "😀", "\ud83d", "\ude00", "𝔘", "word ", "\r\n", "中"];
  let state = seed;
  const next = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
  return Array.from({ length: next() % 200 }, () => pieces[(next() >> 8) % pieces.length]).join("");
}

describe("paging", () => {
  it("all pages together are the text, for any text and page size", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const text = randomText(seed);
      const limit = (seed % 9) + 1;
      let joined = "";
      for (let offset: number | null = 0; offset !== null;) {
        const page: Page = cutChars(text, offset, limit);
        joined += page.content;
        expect(page.nextOffset === null || page.nextOffset > offset).toBe(true);
        // No page starts or ends inside a character.
        if (text.isWellFormed()) expect(page.content.isWellFormed()).toBe(true);
        offset = page.nextOffset;
      }
      expect(joined).toBe(text);
      let lines = "";
      for (let offset: number | null = 0; offset !== null;) {
        const page: Page = cutLines(text, offset, limit, 10_000);
        lines += page.content;
        offset = page.nextOffset;
      }
      expect(lines).toBe(text);
    }
  });

  it("a page by lines has fewer lines if it would be too long; a line that is too long is read by characters", () => {
    expect(cutLines("aaa\nbbb\nccc", 0, 10, 8)).toMatchObject({
      content: "aaa\nbbb\n",
      nextOffset: 2,
      totalLines: 3,
    });
    expect(() => cutLines("aaa\nbbbbbbbbbb", 1, 10, 8)).toThrow("Line 1 alone has 10 characters");
  });
});

describe("get_tool_response", () => {
  const text = `${"line 😀 of text\n".repeat(3_000)}the end`;
  const fetchPage = createTool({
    name: "fetch_page",
    schema: z.object({ url: z.string() }),
    func: () => text,
  });

  it("returns all of a truncated result, page by page, by either handle", async () => {
    const world = await createWorld();
    const pages: Page[] = [];
    let executionId = "";
    const { agent, model } = await createAgent(
      world,
      [
        [call("fetch_page", { url: "u" }, "c1")],
        ({ toolResults }) => {
          const shown = String(toolResults[0]?.output);
          expect(shown.length).toBeLessThan(2_500);
          executionId = /"executionId":"([^"]+)"/.exec(shown)?.[1] ?? "";
          return [call("get_tool_response", { executionId, offset: 0 })];
        },
        ...Array.from(
          { length: 40 },
          () =>
            ({ toolResults }: { toolResults: readonly { output: unknown }[] }) => {
              const page = toolResults[0]?.output as Page;
              pages.push(page);
              return page.nextOffset === null
                ? "Read."
                : [call("get_tool_response", { tool_call_id: "c1", offset: page.nextOffset })];
            },
        ),
      ],
      { tools: [fetchPage], toolResponses: { maxToolResponseChars: 2_000 } },
    );
    const result = await agent.invoke(ask("Read."));
    expect(result.content).toBe("Read.");
    expect(pages.map(({ content }) => content).join("")).toBe(text);
    expect(pages[0]).toMatchObject({
      executionId,
      offset: 0,
      totalChars: text.length,
      part: "output",
      toolName: "fetch_page",
    });
    expect(pages.every(({ content }) => content.length <= 2_000)).toBe(true);
    expect(model.requests[0]?.toolNames).toContain("get_tool_response");
    expect(result.state.toolHistory[0]?.output).toBe(text);
  });

  it.each([50, 999, 1_500])("truncates a result at the configured limit of %i characters", async (limit) => {
    const world = await createWorld();
    const text = "x".repeat(5_000);
    const page = defineTool({ name: "page", schema: z.object({}), execute: () => text });
    const { agent, model } = await createAgent(world, [[call("page", {}, "c1")], "Read."], {
      tools: [page],
      toolResponses: { maxToolResponseChars: limit },
    });
    await agent.invoke(ask("Read."));
    const sent = String(model.requests[1]?.toolResults[0]?.output);
    expect(sent).toMatch(new RegExp(`^x{${limit}}\\n\\[cut: ${limit} of 5000 characters`));
  });

  it("returns inputs, results that the log truncates, errors, and calls of earlier invokes", async () => {
    const world = await createWorld();
    const big = { rows: Array.from({ length: 20_000 }, (_, index) => ({ index, name: `row ${index}` })) };
    const load = defineTool({ name: "load", schema: z.object({ text: z.string() }), execute: () => big });
    const fail = createTool({
      name: "fail",
      schema: z.object({}),
      func: () => Promise.reject(new Error("broken")),
    });
    const seen: Page[] = [];
    const look = ({ toolResults }: { toolResults: readonly { output: unknown }[] }): void => {
      seen.push(...toolResults.map(({ output }) => output as Page));
    };
    const { agent } = await createAgent(
      world,
      [
        [call("load", { text: "x".repeat(5_000) }, "c1"), call("fail", {}, "c2")],
        "First.",
        [
          call("get_tool_response", { tool_call_id: "c1", part: "input" }),
          call("get_tool_response", { tool_call_id: "c1", offset: 0, limit: 50 }),
          call("get_tool_response", { tool_call_id: "c2" }),
          call("get_tool_response", { tool_call_id: "c1", by: "lines", limit: 1, part: "input" }),
        ],
        (request) => {
          look(request);
          return "Second.";
        },
      ],
      { tools: [load, fail] },
    );
    const one = await agent.invoke(ask("Load."));
    await agent.invoke({ ...one.state, messages: [...one.state.messages, user("Look.")] });
    expect(seen[0]?.content).toBe(JSON.stringify({ text: "x".repeat(5_000) }));
    expect(seen[1]).toMatchObject({
      content: JSON.stringify(big).slice(0, 50),
      nextOffset: 50,
      totalChars: JSON.stringify(big).length,
    });
    expect(seen[2]?.content).toContain("broken");
    expect(seen[3]).toMatchObject({ nextOffset: null });
  });

  it("finds no calls of other runs, and says what is wrong with a handle", async () => {
    const world = await createWorld();
    const first = await createAgent(world, [[call("fetch_page", { url: "secret" }, "c1")], "Done."], {
      tools: [fetchPage],
    });
    const { state } = await first.agent.invoke(ask("Fetch."));
    const executionId = state.toolHistory[0]?.executionId ?? "";
    const second = await createAgent(world, [
      [
        call("get_tool_response", { executionId }),
        call("get_tool_response", { tool_call_id: "c1" }),
        call("get_tool_response", {}),
      ],
      "Nothing.",
    ]);
    await second.agent.invoke(ask("Steal."));
    expect(second.model.requests[1]?.toolResults).toMatchObject([
      {
        output: {
          is_error: true,
          error_type: "not_found",
          message: expect.stringContaining(executionId) as string,
        },
      },
      { output: { is_error: true, error_type: "not_found" } },
      {
        output: {
          is_error: true,
          error_type: "input_invalid",
          message: expect.stringContaining("executionId or tool_call_id") as string,
        },
      },
    ]);
  });

  it("an id refers to the agent's own call, even if a sub-agent has made calls under the same id", async () => {
    const world = await createWorld();
    const look = createTool({
      name: "look",
      schema: z.object({ at: z.string() }),
      func: ({ at }) => `seen ${at}`,
    });
    const read = [call("get_tool_response", { tool_call_id: "c1" })];
    const inner = await createAgent(world, [[call("look", { at: "inside" }, "c1")], read, "Seen."], {
      name: "scout",
      tools: [look],
    });
    const { runtime } = inner;
    const outer = await createAgent(
      world,
      [[call("look", { at: "outside" }, "c1")], [call("scout", { input: "Look." })], read, "Done."],
      { tools: [look, inner.agent], runtime },
    );
    await outer.agent.invoke(ask("Look."));
    expect(inner.model.requests[2]?.toolResults).toMatchObject([{ output: { content: "seen inside" } }]);
    expect(outer.model.requests[3]?.toolResults).toMatchObject([{ output: { content: "seen outside" } }]);
  });

  it("an error over the limit is truncated too, and returned in full", async () => {
    const world = await createWorld();
    const build = createTool({
      name: "build",
      schema: z.object({}),
      func: () => {
        throw new Error(`${"warning\n".repeat(50_000)}the cause`);
      },
    });
    let error = "";
    let shown: unknown;
    const next = (offset: number): object[] => [call("get_tool_response", { tool_call_id: "c1", offset })];
    const { agent, model } = await createAgent(
      world,
      [
        [call("build", {}, "c1")],
        ({ toolResults }) => {
          // It stays the JSON of an error, truncated inside its message.
          shown = toolResults[0]?.output;
          return next(0) as never;
        },
        ...Array.from(
          { length: 400 },
          () =>
            ({ toolResults }: { toolResults: readonly { output: unknown }[] }) => {
              const page = toolResults[0]?.output as Page;
              error += page.content;
              return page.nextOffset === null ? "Read." : (next(page.nextOffset) as never);
            },
        ),
      ],
      { tools: [build], limits: { maxContextTokens: 8_000 }, summarization: false },
    );
    await agent.invoke(ask("Build."));
    for (const { prompt } of model.requests) expect(JSON.stringify(prompt).length).toBeLessThan(40_000);
    expect(shown).toMatchObject({
      is_error: true,
      error_type: "execution_failed",
      message: expect.stringMatching(
        /^(warning\n)+.*… \[cut: \d+ of 400009 characters are shown; get_tool_response /,
      ) as string,
      next_action_hint: expect.stringContaining("Read the message") as string,
    });
    expect(JSON.parse(error)).toMatchObject({
      is_error: true,
      message: expect.stringMatching(/warning\nthe cause$/) as string,
    });
  });

  it("the offset of the rest does not include the note", () => {
    const spec = { redactInput: [], redactOutput: [] } as never;
    const requested = { id: "c1", name: "look", input: {}, malformed: undefined };
    const ended = (output: unknown) =>
      ({
        call: requested,
        spec,
        args: {},
        outcome: { status: "success", output, key: "k", replayed: true, fromCache: false, note: "old" },
      }) as const;
    const shown = (one: EndedCall, maxChars: number): CallResult<AgentMessage> | undefined =>
      resultOf(one, "", resultFormat(one.call, maxChars));
    const text = "0123456789";
    expect(shown(ended(text), 4)?.sent.content).toMatch(/^\[old\]\n0123\n\[cut: 4 of 10 .*"offset":4\}/);
    expect(shown(ended({ text }), 4)?.sent.content).toMatch(/^\[old\]\n\{"te\n\[cut: 4 of 21 /);
    expect(shown(ended({ text }), 100)?.sent).toMatchObject({
      content: `{"note":"old","result":{"text":"${text}"}}`,
      format: "json",
    });
  });
});

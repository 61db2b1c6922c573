/**
 * The kinds of tasks: agents, functions and values; where their output comes from, and how an invalid one is handled.
 */
import { Output, ToolLoopAgent } from "ai";
import { createRuntime, createSmithers, defineTool, runWorkflow } from "toolwright";
import { createScriptedModel, type ScriptedTurn } from "toolwright/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createStorePath, scriptedAgent } from "./harness.ts";

const schemas = {
  result: z.object({ summary: z.string() }),
  text: z.string(),
  anything: z.unknown(),
  numbers: z.array(z.number()),
};

function create(dbPath = createStorePath()) {
  return createSmithers(schemas, { dbPath });
}

const look = defineTool({
  name: "look",
  schema: z.object({ at: z.string() }),
  execute: ({ at }) => `seen ${at}`,
});

describe("an agent's output", () => {
  const forms: { readonly name: string; readonly text: string }[] = [
    { name: "JSON alone", text: '{"summary":"fine"}' },
    { name: "JSON in a fence", text: 'Here it is:\n```json\n{"summary":"fine"}\n```\nDone.' },
    { name: "JSON in a fence without a language", text: '```\n{ "summary": "fine" }\n```' },
    { name: "JSON at the end of a text", text: 'I looked at {a} and [b].\n{"summary":"fine"}' },
    { name: "the last of two", text: '```json\n{"draft":1}\n```\n```json\n{"summary":"fine"}\n```' },
    { name: "JSON behind much code", text: `${"if (x) { y(); } ".repeat(80)}\n{"summary":"fine"}` },
    { name: "JSON with a fence inside a text of it", text: '{"summary":"fine"}\n' },
  ];
  it.each(forms)("is taken from $name", async ({ text }) => {
    const { Workflow, Task, smithers, outputs } = create();
    const { agent, model } = scriptedAgent([text]);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result} retries={0}>
          Sum up.
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ status: "finished", output: { summary: "fine" } });
    expect(model.requests).toHaveLength(1);
  });

  it.each(["All is well.", "42", "See [1] and {2}.", '"quoted"'])(
    "of a text schema is the text itself: %s",
    async (text) => {
      const { Workflow, Task, smithers, outputs } = create();
      const { agent, model } = scriptedAgent([text]);
      const workflow = smithers(() => (
        <Workflow name="w">
          <Task id="t" agent={agent} output={outputs.text} retries={0}>
            Say it.
          </Task>
        </Workflow>
      ));
      const result = await runWorkflow(workflow);
      expect(result.status).toBe("finished");
      expect([text, "quoted"]).toContain(result.output);
      expect(model.requests).toHaveLength(1);
    },
  );

  it("without a schema is the text", async () => {
    const { Workflow, Task, smithers } = create();
    const { agent, model } = scriptedAgent(["Hello."]);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent}>
          Say it.
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ status: "finished", output: "Hello." });
    expect(JSON.stringify(model.requests[0]?.prompt)).not.toContain("JSON Schema");
  });

  it("is its structured output, if it has one", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const model = createScriptedModel(['{"summary":"fine"}']);
    const agent = new ToolLoopAgent({
      model,
      output: Output.object({ schema: z.object({ summary: z.string() }) }),
    });
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Sum up.
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ output: { summary: "fine" } });
  });

  it("that is structured and invalid is sent back, in the same attempt", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const model = createScriptedModel(['{"sumary":1}', '{"summary":"fine"}']);
    const agent = new ToolLoopAgent({
      model,
      output: Output.object({ schema: z.object({ summary: z.string() }) }),
    });
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result} retries={0}>
          Sum up.
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ status: "finished", output: { summary: "fine" } });
    expect(model.requests).toHaveLength(2);
  });

  it("that is invalid is sent back with the error, in the same tool context", async () => {
    const dbPath = createStorePath();
    const { Workflow, Task, smithers, outputs } = create(dbPath);
    const seen: string[] = [];
    const where = defineTool({
      name: "where",
      schema: z.object({}),
      execute: (_args, ctx) => {
        seen.push(`${ctx.nodeId} ${ctx.attempt} ${ctx.seq}`);
        return "here";
      },
    });
    const { agent, model } = scriptedAgent(
      [
        [{ toolName: "where", input: {} }],
        '{"summary":7}',
        [{ toolName: "where", input: {} }],
        '{"summary":"fine"}',
      ],
      { tools: { where } },
    );
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Sum up.
        </Task>
      </Workflow>
    ));
    await using runtime = createRuntime({ store: dbPath });
    const result = await runWorkflow(workflow, { runtime, runId: "r" });
    expect(result).toMatchObject({ status: "finished", output: { summary: "fine" } });
    expect(seen).toEqual(["t 1 1", "t 1 2"]);
    expect(JSON.stringify(model.requests[2]?.prompt)).toMatch(/summary.*expected string/i);
    expect(await runtime.calls({ runId: "r" })).toHaveLength(2);
  });

  it("that is never valid fails the attempt after a limited number of corrections", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const { agent, model } = scriptedAgent(["no JSON at all"]);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result} retries={1}>
          Sum up.
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.status).toBe("failed");
    expect(result.error?.message).toMatch(/"t".*"result"/);
    expect(model.requests).toHaveLength(6);
  });

  it("is requested with the JSON Schema of the task", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const { agent, model } = scriptedAgent(['{"summary":"fine"}']);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Sum up.
        </Task>
      </Workflow>
    ));
    await runWorkflow(workflow);
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain("summary");
  });
});

describe("a prompt", () => {
  async function promptOf(make: (file: string) => unknown): Promise<string> {
    const { Workflow, Task, smithers } = create();
    const { agent, model } = scriptedAgent(["ok"]);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent}>
          {make("src/a.ts") as string}
        </Task>
      </Workflow>
    ));
    await runWorkflow(workflow);
    const content = model.requests[0]?.prompt[0]?.content as readonly { readonly text: string }[] | undefined;
    return content?.[0]?.text ?? "";
  }

  it("keeps the spaces around inserted values", async () => {
    const { Workflow, Task, smithers } = create();
    const { agent, model } = scriptedAgent(["ok"]);
    const file = "src/a.ts";
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent}>
          Read {file} and say {2} things about it.
        </Task>
      </Workflow>
    ));
    await runWorkflow(workflow);
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain("Read src/a.ts and say 2 things about it.");
  });

  it("may be a template, an array, or contain conditions", async () => {
    expect(await promptOf((file) => `Read ${file}.`)).toBe("Read src/a.ts.");
    expect(await promptOf((file) => ["Read ", file, ".", false, null, undefined])).toBe("Read src/a.ts.");
  });

  it("may be a function of the outputs that it depends on", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const { agent, model } = scriptedAgent(["ok"]);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="first" output={outputs.result}>
          {{ summary: "a summary" }}
        </Task>
        <Task id="t" agent={agent} deps={{ first: outputs.result }}>
          {(deps: { first: { summary: string } }) => `Judge: ${deps.first.summary}.`}
        </Task>
      </Workflow>
    ));
    await runWorkflow(workflow);
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain("Judge: a summary.");
  });
});

describe("agents", () => {
  it("several are tried in turn", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const first = scriptedAgent([new Error("overloaded")]);
    const second = scriptedAgent(['{"summary":"second"}']);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={[first.agent, second.agent]} output={outputs.result}>
          Sum up.
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ output: { summary: "second" } });
    expect([first.model.requests.length, second.model.requests.length]).toEqual([1, 1]);
  });

  it("get the task's tools in addition to their own", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const own = defineTool({ name: "own", schema: z.object({}), execute: () => "own" });
    const { agent, model } = scriptedAgent(
      [
        [
          { toolName: "look", input: { at: "x" } },
          { toolName: "own", input: {} },
        ],
        '{"summary":"fine"}',
      ],
      { tools: { own } },
    );
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} tools={{ look }} output={outputs.result}>
          Look.
        </Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).status).toBe("finished");
    expect(model.requests[0]?.toolNames.toSorted()).toEqual(["look", "own"]);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("seen x");
  });

  it("receive the task's tools with names that every provider accepts; the log has the original names", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const dotted = defineTool({ name: "shop.look", schema: z.object({}), execute: () => "seen" });
    const { agent, model } = scriptedAgent([[{ toolName: "shop_look", input: {} }], '{"summary":"fine"}']);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} tools={[dotted]} output={outputs.result}>
          Look.
        </Task>
      </Workflow>
    ));
    await using runtime = createRuntime({ store: ":memory:" });
    expect((await runWorkflow(workflow, { runtime })).status).toBe("finished");
    expect(model.requests[0]?.toolNames).toEqual(["shop_look"]);
    expect(await runtime.calls()).toMatchObject([{ toolName: "shop.look", status: "success" }]);
  });

  it("are created from a model and instructions, if there is none", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const model = createScriptedModel([[{ toolName: "look", input: { at: "x" } }], '{"summary":"fine"}']);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" model={model} instructions="You are terse." tools={[look]} output={outputs.result}>
          Look.
        </Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).status).toBe("finished");
    expect(model.requests[0]?.prompt[0]).toMatchObject({ role: "system", content: "You are terse." });
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("seen x");
  });

  it("may be any object with generate, which gets messages, tools and a signal", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const asked: Record<string, unknown>[] = [];
    const agent = {
      generate: async (options: Record<string, unknown>) => {
        asked.push(options);
        await look.execute({ at: "own" });
        return { text: asked.length === 1 ? "no" : '{"summary":"own"}' };
      },
    };
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" agent={agent} output={outputs.result}>
          Sum up.
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ output: { summary: "own" } });
    expect(asked).toHaveLength(2);
    expect(asked[0]?.["abortSignal"]).toBeInstanceOf(AbortSignal);
    expect(JSON.stringify(asked[0]?.["messages"])).toContain("Sum up.");
  });

  it("without generate are an error that names the task", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="broken" agent={{} as { generate(): Promise<unknown> }} output={outputs.result}>
          Sum up.
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.status).toBe("failed");
    expect(result.error?.message).toMatch(/broken.*generate/);
  });

  it("two at once never swap answers", async () => {
    const { Workflow, Task, Parallel, smithers, outputs } = create();
    const turn: ScriptedTurn = async ({ prompt }) => {
      const [, name = ""] = /task (\d)/.exec(JSON.stringify(prompt)) ?? [];
      await new Promise((resolve) => setTimeout(resolve, 20 - Number(name) * 4));
      return `{"summary":"answer ${name}"}`;
    };
    const { agent } = scriptedAgent([turn]);
    const workflow = smithers(() => (
      <Workflow name="w">
        <Parallel>
          {["1", "2", "3", "4"].map((name) => (
            <Task id={name} agent={agent} output={outputs.result}>{`task ${name}`}</Task>
          ))}
        </Parallel>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    const rows = result.outputs["result"] as { summary: string; nodeId: string }[];
    expect(rows.map(({ summary, nodeId }) => `${nodeId} ${summary}`).toSorted()).toEqual(
      ["1", "2", "3", "4"].map((name) => `${name} answer ${name}`),
    );
  });
});

describe("functions", () => {
  it("call tools under the run, the task, its pass and its attempt", async () => {
    const dbPath = createStorePath();
    const { Workflow, Task, Loop, smithers } = create(dbPath);
    let fails = true;
    const workflow = smithers(() => (
      <Workflow name="w">
        <Loop until={false} maxIterations={2}>
          <Task id="t">
            {async () => {
              await look.execute({ at: "x" });
              if (!fails) return 1;
              fails = false;
              throw new Error("once");
            }}
          </Task>
        </Loop>
      </Workflow>
    ));
    await using runtime = createRuntime({ store: dbPath });
    expect((await runWorkflow(workflow, { runtime, runId: "r" })).status).toBe("finished");
    const calls = await runtime.calls({ runId: "r" });
    expect(calls.map(({ nodeId, iteration, attempt }) => [nodeId, iteration, attempt])).toEqual([
      ["t", 0, 1],
      ["t", 0, 2],
      ["t", 1, 1],
    ]);
  });

  it("whose result is invalid fail with the reason", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.numbers} retries={0}>
          {() => ["one"] as unknown as number[]}
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result).toMatchObject({ status: "failed" });
    expect(result.error?.message).toMatch(/"t".*"numbers".*expected number/is);
  });

  it("whose result cannot be stored fail, and do not break the run", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.anything} retries={0}>
          {() => ({ run: () => 1 })}
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow);
    expect(result.status).toBe("failed");
    expect(result.error?.message).toMatch(/"t"/);
  });

  it("may return dates, maps and big integers, and the stored value is equal", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const value = { at: new Date(5), map: new Map([[1, 2n]]) };
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.anything}>
          {() => value}
        </Task>
      </Workflow>
    ));
    const first = await runWorkflow(workflow, { runId: "r" });
    expect(first.output).toEqual(value);
    expect((await runWorkflow(workflow, { runId: "r", resume: true })).output).toEqual(value);
  });

  it("that throw something other than an error fail with a message", async () => {
    const { Workflow, Task, smithers } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" retries={0}>
          {() => {
            // oxlint-disable-next-line typescript/only-throw-error
            throw undefined;
          }}
        </Task>
      </Workflow>
    ));
    expect(await runWorkflow(workflow)).toMatchObject({ status: "failed" });
  });
});

describe("values", () => {
  it.each([[0], [""], [false], [null], [[]], [{ a: 1 }], [[1, 2]]])(
    "%j is stored as it is",
    async (value) => {
      const { Workflow, Task, smithers, outputs } = create();
      const workflow = smithers((ctx) => (
        <Workflow name="w">
          <Task id="t" output={outputs.anything}>
            {value}
          </Task>
          <Task id="copy" output={outputs.numbers}>
            {[ctx.outputs.anything.length]}
          </Task>
        </Workflow>
      ));
      const result = await runWorkflow(workflow, { runId: "r" });
      expect(result.status).toBe("finished");
      expect(result.outputs).toMatchObject({ anything: [value], numbers: [[1]] });
      expect((await runWorkflow(workflow, { runId: "r", resume: true })).outputs["anything"]).toEqual([
        value,
      ]);
    },
  );

  it.each([[0], [false], [""], [null]])("%j of a function is an output", async (value) => {
    const { Workflow, Task, smithers, outputs } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.anything}>
          {() => value}
        </Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).output).toBe(value);
  });

  it("that are invalid fail without a retry", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const attempts: number[] = [];
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="t" output={outputs.numbers}>
          {"one" as unknown as number[]}
        </Task>
      </Workflow>
    ));
    const result = await runWorkflow(workflow, {
      onProgress: (event) => {
        if (event.type === "task-changed") attempts.push(event.attempt);
      },
    });
    expect(result.status).toBe("failed");
    expect(result.error?.message).toMatch(/failed after 1 attempt: .*numbers/);
    expect(new Set(attempts).size).toBe(1);
  });

  it("the result of a run is the row of output, else of the last task, with or without a schema", async () => {
    const { Workflow, Task, smithers, outputs } = create();
    const workflow = smithers(() => (
      <Workflow name="w">
        <Task id="a" output={outputs.result}>
          {{ summary: "a" }}
        </Task>
        <Task id="b">{{ last: true }}</Task>
      </Workflow>
    ));
    expect((await runWorkflow(workflow)).output).toEqual({ last: true });
  });
});

it("calls a custom agent with a prompt, as agents of Smithers are, and with messages", async () => {
  const { Workflow, Task, smithers, outputs } = createSmithers(
    { output: z.object({ n: z.number() }) },
    { dbPath: createStorePath() },
  );
  const asked: { prompt: unknown; messages: unknown[]; spread: string[] }[] = [];
  const byHand = {
    generate: async (options: { prompt: string; messages: unknown[] }) => {
      asked.push({ prompt: options.prompt, messages: options.messages, spread: Object.keys({ ...options }) });
      return { text: asked.length === 1 ? '{"n": "one"}' : '{"n": 1}' };
    },
  };
  const workflow = smithers(() => (
    <Workflow name="by-hand">
      <Task id="count" agent={byHand} output={outputs.output}>
        Count.
      </Task>
    </Workflow>
  ));
  expect(await runWorkflow(workflow)).toMatchObject({ status: "finished", output: { n: 1 } });
  expect(asked[0]?.prompt).toMatch(/^Count\./);
  expect(asked[0]?.messages).toEqual([{ role: "user", content: asked[0]?.prompt }]);
  // The latest message, not the first one.
  expect(asked[1]?.prompt).toMatch(/Correct it\.$/);
  expect(asked[1]?.messages).toHaveLength(3);
  // The AI SDK rejects a prompt together with messages: an agent that spreads its options passes the messages only.
  expect(asked[0]?.spread).not.toContain("prompt");
});

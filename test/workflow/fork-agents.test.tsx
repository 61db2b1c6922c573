/** @jsxImportSource toolwright */
/** Rule 38: forks of runs with models. Up to the cut nothing runs and no response is requested, whatever made the run. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolLoopAgent } from "ai";
import {
  createSmartAgent,
  createWorkflows,
  defineTool,
  runAgentLoop,
  runChatTurn,
  runWorkflow,
  type Runtime,
  type WorkflowDefinition,
  write,
} from "toolwright";
import { createChatHandler, recordModel } from "toolwright/ai-sdk";
import {
  createScriptedModel,
  recordRun,
  type ReplayOptions,
  replayRun,
  type ScriptedAnswer,
} from "toolwright/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { serve } from "../anthropic/harness.ts";
import { createWorld } from "../semantics/harness.ts";

const CARD = "4242-4242";

/** External observations: effects, and requests to the model by the number of responses before them. */
interface Outside {
  readonly effects: string[];
  readonly asked: number[];
}

function clear({ effects, asked }: Outside): void {
  effects.length = 0;
  asked.length = 0;
}

function toolsOf({ effects }: Outside) {
  const options = { sideEffect: true, idempotent: false, acceptsIdempotencyKey: false };
  return {
    price: defineTool({
      name: "price",
      schema: z.object({ n: z.number() }),
      execute: ({ n }) => void effects.push(`price ${n}`),
    }),
    charge: defineTool({
      ...options,
      name: "charge",
      schema: z.object({ n: z.number(), card: z.string().regex(/^[\d-]+$/) }),
      redact: { input: ["card"] },
      execute: ({ n }) => void effects.push(`charge ${n}`),
    }),
    mail: defineTool({
      ...options,
      name: "mail",
      schema: z.object({ n: z.number() }),
      execute: ({ n }) => void effects.push(`mail ${n}`),
    }),
  };
}

const EFFECTS = ["price 1", "charge 2", "mail 3"];
const CALLS = [
  [{ toolCallId: "t1", toolName: "price", input: { n: 1 } }],
  [{ toolCallId: "t2", toolName: "charge", input: { n: 2, card: CARD } }],
  [{ toolCallId: "t3", toolName: "mail", input: { n: 3 } }],
] as const;

function modelOf({ asked }: Outside, answer = "Done.", calls: readonly ScriptedAnswer[] = CALLS) {
  return createScriptedModel(
    [
      ({ turn }) => {
        asked.push(turn);
        return calls[turn] ?? answer;
      },
    ],
    { atEnd: "repeat-last" },
  );
}

async function anthropicOf({ asked }: Outside) {
  const { client } = await serve(
    [
      ({ body }) => {
        const turn = body.messages.filter(({ role }) => role === "assistant").length;
        asked.push(turn);
        return CALLS[turn] ?? "Done.";
      },
    ],
    { atEnd: "repeat-last" },
  );
  return client;
}

const { Workflow, Task, workflow, outputs } = createWorkflows({ answer: z.object({ text: z.string() }) });

function workflowOf(agent: ToolLoopAgent<never, never, never>): WorkflowDefinition {
  return workflow(() => (
    <Workflow name="w">
      <Task id="ask" output={outputs.answer} agent={agent} retries={0}>
        Go.
      </Task>
    </Workflow>
  ));
}

async function run(definition: WorkflowDefinition, runtime: Runtime, runId: string): Promise<void> {
  const { status, error } = await runWorkflow(definition, { runtime, runId, resume: runId !== "p" });
  if (status !== "finished") throw error ?? new Error(status);
}

const sdkAgent = (outside: Outside, answer?: string) =>
  new ToolLoopAgent({ model: modelOf(outside, answer), tools: toolsOf(outside) });
const recordedAgent = (outside: Outside) =>
  new ToolLoopAgent({ model: recordModel(modelOf(outside)), tools: toolsOf(outside) });
const smartAgent = (outside: Outside, runtime?: Runtime) =>
  createSmartAgent({ model: modelOf(outside), tools: Object.values(toolsOf(outside)), runtime });
const JSON_ANSWER = '{"text":"done"}';
const ask = [{ role: "user" as const, content: "Go." }];

async function post(runtime: Runtime, agent: object, id: string, messages: readonly object[]): Promise<void> {
  const handler = createChatHandler({
    runtime,
    agent: agent as never,
    authorize: () => ({ name: "ann" }),
  });
  const response = await handler(
    new Request("http://localhost/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id, messages, trigger: "submit-message" }),
    }),
  );
  const text = await response.text();
  if (!response.ok || text.includes('"type":"error"')) throw new Error(text);
}

const said = (text: string, id: string) => ({ id, role: "user", parts: [{ type: "text", text }] });

interface Kind {
  readonly name: string;
  run(runtime: Runtime, runId: string, outside: Outside): Promise<unknown>;
  /** By default the run itself, as a function. */
  replay?(outside: Outside): ReplayOptions;
}

const KINDS: readonly Kind[] = [
  {
    name: "a task of a workflow",
    run: (runtime, runId, outside) =>
      run(workflowOf(sdkAgent(outside, JSON_ANSWER) as never), runtime, runId),
    replay: (outside) => ({ workflow: workflowOf(sdkAgent(outside, JSON_ANSWER) as never) }),
  },
  {
    name: "a smart agent",
    run: (runtime, runId, outside) => smartAgent(outside, runtime).invoke({ runId, messages: ask }),
    replay: (outside) => ({ agent: smartAgent(outside) }),
  },
  {
    name: "recordModel",
    run: (runtime, runId, outside) =>
      runtime.run({ runId }, async () => (await recordedAgent(outside).generate({ prompt: "Go." })).text),
    replay: (outside) => ({ agent: recordedAgent(outside) }),
  },
  {
    name: "runAgentLoop",
    run: async (runtime, runId, outside) =>
      runAgentLoop({
        client: await anthropicOf(outside),
        model: "claude",
        messages: ask,
        tools: Object.values(toolsOf(outside)),
        runtime,
        runId,
      }),
  },
  {
    name: "runChatTurn",
    run: async (runtime, runId, outside) =>
      runChatTurn({
        client: await anthropicOf(outside),
        model: "claude",
        messages: ask,
        tools: Object.values(toolsOf(outside)),
        runtime,
        runId,
      }),
  },
  {
    name: "createChatHandler",
    run: (runtime, runId, outside) => post(runtime, sdkAgent(outside), runId, [said("Go.", "u1")]),
    replay: (outside) => ({ agent: sdkAgent(outside) }),
  },
];

async function callsOf(runtime: Runtime, runId: string) {
  return (await runtime.calls({ runId })).toSorted((one, other) => one.seq - other.seq);
}

describe.each(KINDS)("a fork of $name", (kind) => {
  test("rule 38: starts at any call, can be recorded, and its fixture is replayed", async () => {
    const world = await createWorld();
    const runtime = await world.runtime({ recording: "keep" });
    const outside: Outside = { effects: [], asked: [] };
    await kind.run(runtime, "p", outside);
    expect(outside).toEqual({ effects: EFFECTS, asked: [0, 1, 2, 3] });
    const calls = await callsOf(runtime, "p");
    for (const [index, call] of calls.entries()) {
      clear(outside);
      const { runId } = await runtime.fork({ runId: "p", at: call.key, effects: "run" });
      await kind.run(runtime, runId, outside);
      // The card is no longer known, so the model is asked for the charge again.
      const first = index === 1 ? 1 : index + 1;
      expect(outside).toEqual({ effects: EFFECTS.slice(index), asked: [0, 1, 2, 3].slice(first) });
      clear(outside);
      const fixture = await recordRun(runtime, runId);
      expect(JSON.stringify(fixture)).not.toContain(CARD);
      const options = kind.replay?.(outside) ?? {
        agent: (given: { runtime: Runtime; runId: string }) => kind.run(given.runtime, given.runId, outside),
      };
      expect((await replayRun(fixture, options)).diff).toEqual([]);
      expect(outside).toEqual({ effects: [], asked: [] });
    }
  });
});

test.each(["a smart agent", "runAgentLoop"])(
  "rule 38: a fork of %s finds calls with redacted arguments although the model reuses one id",
  async (name) => {
    const world = await createWorld();
    const runtime = await world.runtime({ recording: "keep" });
    const outside: Outside = { effects: [], asked: [] };
    const charge = defineTool({
      name: "charge",
      schema: z.object({ n: z.number(), card: z.string().optional() }),
      sideEffect: true,
      idempotent: false,
      acceptsIdempotencyKey: false,
      redact: { input: ["card"] },
      execute: ({ n }) => {
        outside.effects.push(`charge ${n}`);
        return `charged ${n}`;
      },
    });
    // The third one has nothing to redact, and comes first.
    const inputs = [{ n: 3 }, { n: 1, card: CARD }, { n: 2, card: CARD }];
    const script = [
      ...inputs.map((input) => [{ toolCallId: "same", toolName: "charge", input }]),
      [{ toolCallId: "same", toolName: "mail", input: { n: 3 } }],
    ];
    const tools = [charge, toolsOf(outside).mail];
    const drive = async (runId: string): Promise<string> => {
      if (name === "a smart agent") {
        const model = modelOf(outside, "Done.", script);
        const { messages } = await createSmartAgent({ model, tools, runtime }).invoke({
          runId,
          messages: ask,
        });
        return JSON.stringify(messages);
      }
      const turn = ({ body }: { body: { messages: readonly { role: string }[] } }) => {
        const before = body.messages.filter(({ role }) => role === "assistant").length;
        outside.asked.push(before);
        return script[before] ?? "Done.";
      };
      const { client } = await serve([turn], { atEnd: "repeat-last" });
      const { messages } = await runAgentLoop({
        client,
        model: "claude",
        messages: ask,
        tools,
        runtime,
        runId,
      });
      return JSON.stringify(messages);
    };
    await drive("p");
    clear(outside);
    const mail = (await callsOf(runtime, "p")).find(({ toolName }) => toolName === "mail");
    const { runId } = await runtime.fork({ runId: "p", at: mail?.key, effects: "run" });
    const read = await drive(runId);
    expect(outside).toEqual({ effects: ["mail 3"], asked: [4] });
    expect(read.match(/charged \d/g)).toEqual(["charged 3", "charged 1", "charged 2"]);
  },
);

test("rule 38: a file that was written before the cut is not written again", async () => {
  const world = await createWorld();
  const rootDir = mkdtempSync(join(tmpdir(), "toolwright-fork-"));
  onTestFinished(() => rmSync(rootDir, { recursive: true, force: true }));
  const runtime = await world.runtime({ recording: "keep", rootDir, isolation: "off" });
  const outside: Outside = { effects: [], asked: [] };
  const script = [
    [{ toolCallId: "a", toolName: "write", input: { path: "a.txt", content: "hello" } }],
    CALLS[2],
  ];
  const definition = workflowOf(
    new ToolLoopAgent({
      model: modelOf(outside, JSON_ANSWER, script),
      tools: { write, mail: toolsOf(outside).mail },
    }) as never,
  );
  await run(definition, runtime, "p");
  const { ino } = statSync(join(rootDir, "a.txt"));
  clear(outside);
  const [, mail] = await callsOf(runtime, "p");
  const { runId } = await runtime.fork({ runId: "p", at: mail?.key, effects: "run" });
  await run(definition, runtime, runId);
  expect(outside).toEqual({ effects: ["mail 3"], asked: [2] });
  expect(statSync(join(rootDir, "a.txt")).ino).toBe(ino);
});

describe("the second turn", () => {
  const script = [CALLS[0], "One.", [{ ...CALLS[0][0], toolCallId: "u1" }], CALLS[2], "Two."];
  const chat = async (runtime: Runtime, runId: string, outside: Outside): Promise<void> => {
    const agent = new ToolLoopAgent({ model: modelOf(outside, "", script), tools: toolsOf(outside) });
    const call = {
      type: "tool-price",
      toolCallId: "t1",
      state: "output-available",
      input: { n: 1 },
      output: null,
    };
    const parts = [call, { type: "step-start" }, { type: "text", text: "One." }];
    const first = said("Go.", "u1");
    await post(runtime, agent, runId, [first]);
    await post(runtime, agent, runId, [first, { id: "a1", role: "assistant", parts }, said("Again.", "u2")]);
  };
  const smart = async (runtime: Runtime, runId: string, outside: Outside): Promise<void> => {
    const tools = Object.values(toolsOf(outside));
    const agent = createSmartAgent({ model: modelOf(outside, "", script), tools, runtime });
    const first = await agent.invoke({ runId, messages: ask });
    await agent.invoke({ runId, messages: [...first.messages, { role: "user", content: "Again." }] });
  };

  test.each([
    ["a smart agent", smart],
    ["a chat", chat],
  ])("of %s starts at a call or at its beginning, and the first turn stays", async (_name, drive) => {
    const world = await createWorld();
    const runtime = await world.runtime({ recording: "keep" });
    const outside: Outside = { effects: [], asked: [] };
    await drive(runtime, "p", outside);
    const mail = (await callsOf(runtime, "p")).find(({ toolName }) => toolName === "mail");
    clear(outside);
    const atCall = await runtime.fork({ runId: "p", at: mail?.key, effects: "run" });
    await drive(runtime, atCall.runId, outside);
    expect(outside).toEqual({ effects: ["mail 3"], asked: [4] });
    clear(outside);
    const atTurn = await runtime.fork({ runId: "p", at: "main[1]", effects: "reuse" });
    await drive(runtime, atTurn.runId, outside);
    expect(outside).toEqual({ effects: ["price 1"], asked: [2, 3, 4] });
  });
});

test("rule 38: responses of several agents of a program are separated by the calls after the cut", async () => {
  const world = await createWorld();
  const runtime = await world.runtime({ recording: "keep" });
  const outside: Outside = { effects: [], asked: [] };
  const { mail } = toolsOf(outside);
  const agentOf = (n: number) => {
    const calls = [[{ toolCallId: `mail-${n}`, toolName: "mail", input: { n } }]];
    return new ToolLoopAgent({ model: recordModel(modelOf(outside, "Done.", calls)), tools: { mail } });
  };
  const program = (runId: string) =>
    runtime.run({ runId }, async () => {
      await agentOf(1).generate({ prompt: "One." });
      await mail.execute({ n: 2 });
      await agentOf(3).generate({ prompt: "Three." });
      await mail.execute({ n: 4 });
    });
  await program("p");
  const results: unknown[] = [];
  for (const call of await callsOf(runtime, "p")) {
    clear(outside);
    await program((await runtime.fork({ runId: "p", at: call.key, effects: "run" })).runId);
    results.push([outside.effects.length, [...outside.asked]]);
  }
  expect(results).toEqual([
    [4, [1, 0, 1]],
    [3, [0, 1]],
    [2, [1]],
    [1, []],
  ]);
});

test("a call of an agent inside a call that has ended is refused, with the call around it", async () => {
  const world = await createWorld();
  const runtime = await world.runtime({ recording: "keep" });
  const outside: Outside = { effects: [], asked: [] };
  const delegate = defineTool({
    name: "delegate",
    schema: z.object({}),
    execute: async () => (await recordedAgent(outside).generate({ prompt: "Go." })).text,
  });
  await runtime.run({ runId: "p" }, () => delegate.execute({}));
  const calls = await callsOf(runtime, "p");
  const keyOf = (name: string) => calls.find(({ toolName }) => toolName === name)?.key ?? "";
  await expect(runtime.fork({ runId: "p", at: keyOf("mail") })).rejects.toMatchObject({
    code: "TOOL_FORK_INVALID",
    hint: expect.stringContaining(keyOf("delegate")),
  });
  expect(await runtime.fork({ runId: "p", at: keyOf("delegate") })).toMatchObject({ copied: { calls: 0 } });
});

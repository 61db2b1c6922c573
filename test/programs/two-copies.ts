/** Uses this copy of the package together with the one in the folder that the first argument names, in many ways. */
import { pathToFileURL } from "node:url";
import { generateText } from "ai";
import { z } from "zod";
import * as own from "../../src/index.ts";
import type * as ownSdk from "../../src/adapters/ai-sdk/index.ts";
import * as ownJsx from "../../src/jsx-runtime.ts";
import * as ownTesting from "../../src/testing/index.ts";

const folder = pathToFileURL(`${process.argv[2] ?? ""}/`);
const load = async <T>(path: string): Promise<T> => (await import(new URL(path, folder).href)) as T;
const other = await load<typeof own>("src/index.ts");
const otherSdk = await load<typeof ownSdk>("src/adapters/ai-sdk/index.ts");
const otherJsx = await load<typeof ownJsx>("src/jsx-runtime.ts");

const { createScriptedModel } = ownTesting;

function chargeOf({ defineTool, getToolContext }: typeof own, name = "charge") {
  return defineTool({
    name,
    schema: z.object({ euros: z.number() }),
    sideEffect: true,
    execute: ({ euros }, ctx) => ({
      euros,
      hasKey: ctx.idempotencyKey !== null,
      sameKey: getToolContext()?.idempotencyKey === ctx.idempotencyKey,
    }),
  });
}

const otherCharge = chargeOf(other);
const ownCharge = chargeOf(own);

type Scenario = (runtime: own.Runtime) => Promise<unknown>;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "a tool that is called in a run": (runtime) =>
    runtime.run({ runId: "r" }, () => otherCharge.execute({ euros: 1 })),
  "a tool that a runtime calls": async (runtime) => {
    const outcome = await runtime.call(otherCharge, { euros: 1 }, { runId: "r" });
    return outcome.status === "success" ? outcome.output : outcome;
  },
  "a tool inside a tool": (runtime) => {
    const outer = own.defineTool({
      name: "outer",
      schema: z.object({}),
      execute: () => otherCharge.execute({ euros: 1 }),
    });
    return runtime.run({ runId: "r" }, () => outer.execute({}));
  },
  "the context of a running tool": (runtime) => {
    const tool = own.defineTool({
      name: "looks",
      schema: z.object({}),
      execute: () => ({ hasKey: other.getToolIdempotencyKey() !== null }),
    });
    return runtime.run({ runId: "r" }, () => tool.execute({}));
  },
  "whether a tool needs approval": (runtime) =>
    runtime.run({ runId: "r" }, async () => {
      const tool = other.defineTool({
        name: "asks",
        schema: z.object({}),
        needsApproval: true,
        execute: () => 1,
      });
      return { needsApproval: await tool.needsApproval?.({}, { toolCallId: "c" }) };
    }),
  "an approval in an AI SDK loop": (runtime) =>
    runtime.run({ runId: "r" }, async () => {
      const asks = other.defineTool({
        name: "asks",
        schema: z.object({}),
        needsApproval: true,
        execute: () => 1,
      });
      const model = createScriptedModel([[{ toolName: "asks", input: {}, toolCallId: "c" }]]);
      await generateText({ model, tools: { asks }, prompt: "Go." });
      return { requests: (await runtime.approvals()).length };
    }),
  "a workflow": async (runtime) => resultOf(await own.runWorkflow(workflowOf(other, otherJsx), { runtime })),
  "the JSX of a workflow": async (runtime) =>
    resultOf(await own.runWorkflow(workflowOf(own, otherJsx), { runtime })),
  "a component of a workflow": async (runtime) =>
    resultOf(await own.runWorkflow(workflowOf(own, ownJsx, other.Task), { runtime })),
  "a runtime for a workflow": async (runtime) =>
    resultOf(await other.runWorkflow(workflowOf(other, otherJsx), { runtime })),
  "a runtime for an agent": async (runtime) => {
    const agent = other.createSmartAgent({
      model: createScriptedModel([[{ toolName: "charge", input: { euros: 1 } }], "Done."]),
      tools: [otherCharge],
      runtime,
    });
    const { content } = await agent.invoke({ messages: [{ role: "user", content: "Go." }], runId: "r" });
    return { content };
  },
  "an agent inside a tool": (runtime) => {
    const agent = other.createSmartAgent({
      model: createScriptedModel([[{ toolName: "charge", input: { euros: 1 } }], "Done."]),
      tools: [otherCharge],
    });
    const outer = own.defineTool({
      name: "outer",
      schema: z.object({}),
      execute: async () => {
        // Without the store of the enclosing run, it would open its own store here.
        await otherCharge.execute({ euros: 2 });
        return { content: (await agent.invoke({ messages: [{ role: "user", content: "Go." }] })).content };
      },
    });
    return runtime.run({ runId: "r" }, () => outer.execute({}));
  },
  "a recorded model": (runtime) =>
    runtime.run({ runId: "r" }, async () => {
      const model = otherSdk.recordModel(createScriptedModel(["Hello."]));
      const { content } = await model.doGenerate({
        prompt: [{ role: "user", content: [{ type: "text", text: "Hi." }] }],
      });
      return { content };
    }),
  "a registered tool": async (runtime) => {
    other.registerTool(chargeOf(other, "registered"));
    const tool = own.getTool("registered");
    if (tool === undefined) throw new Error("the tool is not found");
    const outcome = await runtime.call(tool, { euros: 1 }, { runId: "r" });
    return outcome.status === "success" ? outcome.output : outcome;
  },
  "an error": async () => {
    const error = new other.ToolwrightError("TOOL_TIMEOUT", "late");
    return { isOwn: own.ToolwrightError.is(error) };
  },
};

function workflowOf(
  { createSmithers }: typeof own,
  { jsx }: typeof ownJsx,
  task?: typeof own.Task,
): ReturnType<ReturnType<typeof createSmithers>["smithers"]> {
  const charge = createSmithers === own.createSmithers ? ownCharge : otherCharge;
  const { Workflow, Task, smithers, outputs } = createSmithers({ output: z.unknown() });
  return smithers(() =>
    jsx(Workflow, {
      name: "w",
      children: jsx(task ?? Task, {
        id: "t",
        output: outputs.output,
        children: () => charge.execute({ euros: 1 }),
      }),
    }),
  );
}

/** A failed run reports it in its result. */
function resultOf({ output, error }: own.WorkflowResult): unknown {
  if (error !== undefined) throw error;
  return output;
}

const results: Record<string, unknown> = {};
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  await using runtime = own.createRuntime({ store: ":memory:" });
  try {
    const value = await scenario(runtime);
    const calls = await runtime.calls();
    results[name] = { value, calls: calls.map(({ toolName, status }) => `${toolName} ${status}`) };
  } catch (error) {
    const { code, message } = error as own.ToolwrightError;
    results[name] = { code, message };
  }
}
console.log(JSON.stringify(results));

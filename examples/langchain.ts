/** LangChain tools in a Toolwright runtime, and Toolwright tools in a LangChain loop: every call is logged and runs once. */
import assert from "node:assert/strict";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { createRuntime, fromTool } from "toolwright";
import { toLangChainTools } from "toolwright/langchain";
import { z } from "zod";

const sent: string[] = [];
const sendMail = tool(
  async ({ to }) => {
    sent.push(to);
    return `sent to ${to}`;
  },
  { name: "send_mail", description: "Send a mail", schema: z.object({ to: z.email() }) },
);

// A LangChain tool cannot declare its policies, so the program does.
const careful = fromTool(sendMail, { maxExecutionsPerRun: 2, timeoutMs: 10_000 });
const tools = toLangChainTools([careful]);

/** The loop from LangChain's guides. The model is scripted; real programs use a chat model. */
async function answer(): Promise<BaseMessage[]> {
  const model = fakeModel()
    .respondWithTools([
      { name: "send_mail", args: { to: "no address" } },
      { name: "send_mail", args: { to: "ada@example.com" } },
    ])
    .respond(new AIMessage("The mail is sent."))
    .bindTools(tools);
  const messages: BaseMessage[] = [new HumanMessage("Write to Ada.")];
  for (;;) {
    const said = await model.invoke(messages);
    messages.push(said);
    if (said.tool_calls === undefined || said.tool_calls.length === 0) return messages;
    for (const call of said.tool_calls) {
      const called = tools.find(({ name }) => name === call.name);
      assert(called !== undefined);
      messages.push((await called.invoke({ ...call, type: "tool_call" })) as BaseMessage);
    }
  }
}

await using runtime = createRuntime({ store: ":memory:" });
for (const round of ["The first time", "After a restart"]) {
  const messages = await runtime.run({ runId: "monday" }, answer);
  const [refused, done] = messages.filter(({ type }) => type === "tool");
  console.log(`${round}: ${refused?.text}`);
  console.log(`${round}: ${done?.text}`);
  assert(refused?.text.includes("input_invalid"));
  assert.equal(done?.text, "sent to ada@example.com");
}
console.log(`Mails: ${sent.length}`);
assert.deepEqual(sent, ["ada@example.com"]);

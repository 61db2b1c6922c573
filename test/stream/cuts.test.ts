/** A connection that is cut repeatedly at random points delivers every part once. */
import { ToolLoopAgent, type UIMessageChunk } from "ai";
import { createRuntime } from "toolwright";
import { createChatHandler } from "toolwright/ai-sdk";
import { expect, test } from "vitest";
import { createStorePath } from "../workflow/harness.ts";
import { Random } from "../random.ts";
import { createClient, listen, userMessage } from "./chat-server.ts";
import { createLiveModel } from "./live-model.ts";

const CUTS = 200;

/** Reads events until the connection is cut after `most` of them. */
async function readSome(
  response: Response,
  most: number,
): Promise<{ id: number | undefined; chunk: UIMessageChunk }[]> {
  const found: { id: number | undefined; chunk: UIMessageChunk }[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (found.length < most) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    text += value;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, id] = /^id: (\d+)$/m.exec(event) ?? [];
      const [, data] = /^data: (\{.*)$/m.exec(event) ?? [];
      if (data === undefined || found.length >= most) continue;
      found.push({
        id: id === undefined ? undefined : Number(id),
        chunk: JSON.parse(data) as UIMessageChunk,
      });
    }
  }
  await reader?.cancel();
  return found;
}

test("200 random cuts give every part once", { timeout: 180_000 }, async () => {
  const random = new Random(16);
  const live = createLiveModel();
  const store = createStorePath();
  await using runtime = createRuntime({ store });
  const agent = new ToolLoopAgent({ model: live.model });
  const handler = createChatHandler({ runtime, agent, authorize: () => ({ name: "ann" }) });
  const client = createClient(await listen(handler));
  await (await client.send([userMessage("Count")])).cancel();
  const request = await live.next();
  const pieces = Array.from({ length: 2 * CUTS }, (_, index) => `${index} `);
  request.say(...pieces);
  const received: string[] = [];
  let from = 0;
  for (let cut = 0; cut < CUTS; cut += 1) {
    const found = await readSome(await client.get(`?from=${from}`), 2 + random.below(3));
    for (const { id, chunk } of found) {
      if (id === undefined) continue;
      from = id + 1;
      if (chunk.type === "text-delta") received.push(chunk.delta);
    }
    if (received.length >= pieces.length - 5) break;
  }
  request.send({ type: "text-end", id: "t" });
  const last = readSome(await client.get(`?from=${from}`), Number.POSITIVE_INFINITY);
  request.finish();
  for (const { id, chunk } of await last)
    if (id !== undefined && chunk.type === "text-delta") received.push(chunk.delta);
  expect(received).toEqual(pieces);
});

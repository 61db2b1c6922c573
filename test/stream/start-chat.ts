/** A chat with a shop: ordering a diamond needs approval. */
import { ToolLoopAgent } from "ai";
import { createRuntime, defineTool } from "toolwright";
import { createChatHandler } from "toolwright/ai-sdk";
import { z } from "zod";
import { createStorePath } from "../workflow/harness.ts";
import { createClient, listen } from "./chat-server.ts";
import { createLiveModel, type LiveRequest } from "./live-model.ts";

function createShop() {
  const placed: string[] = [];
  const order = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    needsApproval: ({ sku }) => sku === "diamond",
    execute: ({ sku }, ctx) => {
      placed.push(sku);
      return { ordered: sku, key: ctx.idempotencyKey.length > 0 };
    },
  });
  return { placed, order };
}

type Shop = ReturnType<typeof createShop>;
/** Any of the agent's settings. */
type Settings = Readonly<Record<string, unknown>>;

/**
 * A chat behind HTTP. The header x-user names the caller: "boss" may decide, "stranger" may do nothing.
 * @param settings of the agent, from the shop's tool and the list of what was ordered
 */
export async function startChat(store = createStorePath(), settings: (shop: Shop) => Settings = () => ({})) {
  const live = createLiveModel();
  const { placed, order } = createShop();
  const runtime = createRuntime({ store });
  const agent = new ToolLoopAgent({
    model: live.model,
    tools: { order },
    ...(settings({ placed, order }) as object),
  });
  const authorize = (request: Request) => {
    const name = request.headers.get("x-user");
    if (name === null) return undefined;
    return name === "stranger" ? false : { name, canDecide: name === "boss" };
  };
  const api = await listen(createChatHandler({ runtime, agent, authorize }));
  const as = (name: string, chatId = "c") => createClient(api, chatId, { "x-user": name });
  return { live, placed, order, agent, authorize, runtime, store, api, as, client: as("boss") };
}

export function say(request: LiveRequest, ...pieces: string[]): void {
  request.say(...pieces);
  request.send({ type: "text-end", id: "t" });
  request.finish();
}

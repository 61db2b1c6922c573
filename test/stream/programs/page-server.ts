/** The server of the template `chat`, with a model that the test drives by messages. Arguments: store, root folder, port. */
import { createRuntime } from "toolwright";
import { serveChat } from "../../../templates/init/serve-chat.ts";
import { createLiveModel, type LiveRequest } from "../live-model.ts";

/** `call`: orders that many pears. `end`: the reason why the response ends. */
export interface PageCommand {
  readonly say?: string;
  readonly call?: number;
  readonly end?: "stop" | "tool-calls";
}

const [, , store = "", rootDir = "", port = "0"] = process.argv;
const live = createLiveModel();
const runtime = createRuntime({ store, rootDir });
const { url } = await serveChat({ runtime, model: live.model, port: Number(port) });
let request: LiveRequest | undefined;
let isTextOpen = false;

process.on("message", ({ say, call, end }: PageCommand) => {
  if (say !== undefined && isTextOpen) request?.send({ type: "text-delta", id: "t", delta: say });
  if (say !== undefined && !isTextOpen) request?.say(say);
  isTextOpen ||= say !== undefined;
  if (call !== undefined) request?.call("place_order", { item: "pear", quantity: call });
  if (end === undefined) return;
  if (isTextOpen) request?.send({ type: "text-end", id: "t" });
  isTextOpen = false;
  request?.finish(end);
});
process.send?.(url);
for (;;) {
  request = await live.next();
  isTextOpen = false;
  process.send?.("asked");
}

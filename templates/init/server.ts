/** Starts the chat. Stop it in the middle of an answer, start it again, and reload the page: the answer continues. */
import { createRuntime } from "toolwright";
import { createChatModel } from "./chat-model.ts";
import { serveChat } from "./serve-chat.ts";

const { url } = await serveChat({
  runtime: createRuntime({ store: "toolwright.db" }),
  model: createChatModel(),
  port: Number(process.env["PORT"] ?? 3000),
});
console.log(`Open ${url}`);

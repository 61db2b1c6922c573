/** The tools that `toolwright mcp` serves. Each is a command too: npx toolwright place-order --help */
import { placeOrder } from "./place-order.ts";

export default { tools: [placeOrder], store: "toolwright.db" };

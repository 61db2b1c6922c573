/** A program of a user: it makes its calls, ends, and is started again by its supervisor until it has ended well. */
import { createTools, endFor, openRuntime, place, readInput, reportReady } from "./soak-process.ts";

const input = readInput();
const { runId, steps } = input;
const runtime = openRuntime(input);
const tools = createTools(input.shopUrl);
process.once("SIGTERM", () => void runtime.close().then(() => process.exit(143), endFor));
reportReady();
try {
  await runtime.run({ runId }, async () => {
    for (const step of steps.slice(0, 2)) await place(tools, step);
    const ends = await Promise.allSettled(steps.slice(2).map((step) => place(tools, step)));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  });
  await runtime.close();
} catch (error) {
  endFor(error);
}
process.exit(0);

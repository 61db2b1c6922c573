/** Places one order. Run it twice with the same run id: the second run returns the logged result. */
import { createRuntime } from "toolwright";
import { placeOrder } from "./place-order.ts";

const [runId = "monday", item = "apple", quantity = "2"] = process.argv.slice(2);

const runtime = createRuntime({ store: "toolwright.db" });
try {
  const outcome = await runtime.call(placeOrder, { item, quantity: Number(quantity) }, { runId });
  switch (outcome.status) {
    case "success":
      console.log(`${outcome.replayed ? "Ordered before" : "Ordered"}: ${outcome.output.receipt}`);
      break;
    case "pending":
      console.log(`Waits for approval: ${outcome.approval.prompt}`);
      console.log(`Decide with: npx toolwright approve ${outcome.approval.id}`);
      console.log("Then run the same command again.");
      break;
    default:
      console.error(outcome.error.message);
      process.exitCode = 1;
  }
} finally {
  await runtime.close();
}

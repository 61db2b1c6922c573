/** A business key whose call waits for approval. */
import { expect, test } from "vitest";
import { STORE_KINDS } from "../store-kinds.ts";
import { shopProgram } from "./shop-program.ts";

test.each(STORE_KINDS)(
  "another run that needs the key of a call pending approval gets an error in time, on $name",
  async (storeKind) => {
    await using store = await storeKind.fresh();
    // In its own process: a busy loop would block the timers of this one.
    const program = shopProgram("wait-for-business-key", { args: [store.address], timeoutMs: 30_000 });
    const { stdout } = await program.run();
    expect(JSON.parse(stdout)).toEqual(["pending", "TOOL_TIMEOUT"]);
  },
);

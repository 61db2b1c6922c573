/** A business key whose call waits for a person. */
import { expect, test } from "vitest";
import { STORE_KINDS } from "../store-kinds.ts";
import { shopProgram } from "./shop-program.ts";

test.each(STORE_KINDS)(
  "another run that needs the key of a call pending approval gets an error in time, on $name",
  async (storeKind) => {
    await using store = await storeKind.fresh();
    // In a process of its own: a loop that never waits would keep this one from noticing.
    const program = shopProgram("wait-for-business-key", { args: [store.address], timeoutMs: 30_000 });
    const { stdout } = await program.run();
    expect(JSON.parse(stdout)).toEqual(["pending", "TOOL_TIMEOUT"]);
  },
);

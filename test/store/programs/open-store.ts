/** Opens a store at a given moment and prints its secret. Arguments: address, moment by the system's clock. */
import { setTimeout as pause } from "node:timers/promises";
import { openStore } from "../../../src/store/open-store.ts";

const [address = "", startAtMs = "0"] = process.argv.slice(2);
await pause(Math.max(0, Number(startAtMs) - Date.now()));
const store = await openStore(address);
console.log(store.secret);
await store.close();

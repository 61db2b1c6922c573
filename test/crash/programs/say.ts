/** Prints a text, then exits. Arguments: text, exit code, milliseconds to wait. */
import { setTimeout as pause } from "node:timers/promises";

const [text = "", code = "0", ms = "0"] = process.argv.slice(2);
console.log(text);
console.error(`error ${text}`);
await pause(Number(ms));
process.exitCode = Number(code);

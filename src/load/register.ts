/** Makes this process load workflow files. Also what `toolwright test` preloads into Node's test runner. */
import * as nodeModule from "node:module";
import { load, resolve } from "./hooks.ts";

// Node 22.15 and later have hooks on the main thread; before that they live in a thread of their own.
const { registerHooks }: Partial<Pick<typeof nodeModule, "registerHooks">> = nodeModule;
if (registerHooks === undefined) nodeModule.register(new URL("./hooks.js", import.meta.url));
else registerHooks({ resolve, load });
process.setSourceMapsEnabled(true);

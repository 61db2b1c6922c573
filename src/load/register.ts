/** Registers the module hooks in this process. `toolwright test` preloads this file into Node's test runner. */
import * as nodeModule from "node:module";
import { load, resolve } from "./hooks.ts";

// Node 22.15 and later support synchronous hooks. Older versions need a hooks thread.
const { registerHooks }: Partial<Pick<typeof nodeModule, "registerHooks">> = nodeModule;
if (registerHooks === undefined) nodeModule.register(new URL("../load/hooks.js", import.meta.url));
else registerHooks({ resolve, load });
process.setSourceMapsEnabled(true);

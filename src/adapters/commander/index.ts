/** `toolwright/commander`: the generated command line. */

export { registerToolsAsCLI } from "./register-tools.ts";
export type { RegisterToolsOptions } from "./register-tools.ts";

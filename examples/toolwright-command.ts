/** The `toolwright` command of the package that the examples import, to be run by Node. */
import { fileURLToPath } from "node:url";

export const TOOLWRIGHT: string = fileURLToPath(
  new URL("dist/cli/main.js", import.meta.resolve("toolwright/package.json")),
);

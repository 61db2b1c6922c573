/** The code of this process: a tool that could change it would run code with the rights and secrets of the agent. */
import { codePathsIn } from "../../../load/code-paths.ts";
import { isInside } from "../../is-inside.ts";
import { foldPath, type Rule } from "./rule.ts";

export const code: Rule = {
  access: "readOnly",
  covers({ realPath, realRoot }) {
    const place = foldPath(realPath);
    return codePathsIn(realRoot).some((path) => isInside(place, foldPath(path)));
  },
  find: ({ root }) => codePathsIn(root).map((path) => ({ kind: "readOnly", path })),
};

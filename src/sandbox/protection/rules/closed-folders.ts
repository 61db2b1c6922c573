/** A folder that cannot be listed cannot be searched for paths to protect, so commands see it empty. */
import type { Rule } from "./rule.ts";

export const closedFolders: Rule = {
  access: "hide",
  // The file tools judge a path by its names, and need no list.
  covers: () => false,
  find: ({ finds }) => finds.closed.map((path) => ({ kind: "hideFolder", path, watched: false })),
};

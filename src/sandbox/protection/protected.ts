/**
 * The one list of what no tool may change or see inside a root. The file tools judge the path of a request by it, and
 * every tier gets the existing paths that it finds. To protect something more, add a rule.
 */
import { closedFolders } from "./rules/closed-folders.ts";
import { code } from "./rules/code.ts";
import { gitSettings, namedByGit } from "./rules/git.ts";
import { ownFolder, ownSettings } from "./rules/own-files.ts";
import type { Rule } from "./rules/rule.ts";
import { stores } from "./rules/stores.ts";

export const PROTECTED: readonly Rule[] = [
  ownFolder,
  ownSettings,
  closedFolders,
  stores,
  gitSettings,
  namedByGit,
  code,
];

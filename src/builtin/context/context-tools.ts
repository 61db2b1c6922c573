/** The context tools, keyed by name: ready for an agent's `tools`. */
import { context_read } from "./read.ts";
import { context_refresh } from "./refresh.ts";
import { context_search, search_semantic } from "./search.ts";
import { context_tree } from "./tree.ts";
import { context_write } from "./write.ts";

export const contextTools = {
  context_write,
  context_read,
  context_tree,
  context_search,
  context_refresh,
  search_semantic,
};

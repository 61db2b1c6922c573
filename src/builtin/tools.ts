/** The five built-in tools, keyed by name: ready for an agent's `tools`. */
import { bash } from "./bash.ts";
import { edit } from "./edit.ts";
import { grep } from "./grep.ts";
import { read } from "./read.ts";
import { write } from "./write.ts";

export const tools = { read, write, edit, bash, grep };

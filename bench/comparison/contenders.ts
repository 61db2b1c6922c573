/** The systems of the comparison, in the order of the columns. A module is loaded only in the process that measures it. */
import type { Contender } from "./contender.ts";

const peer = async (file: string): Promise<Contender> => {
  const url = new URL(`../peers/${file}.ts`, import.meta.url).href;
  return ((await import(url)) as { readonly contender: Contender }).contender;
};

interface Entry {
  readonly usesPostgres: boolean;
  load(): Promise<Contender>;
}

export const CONTENDERS: Readonly<Record<string, Entry>> = {
  toolwright: { usesPostgres: false, load: async () => (await import("./toolwright.ts")).onSqlite },
  "toolwright-postgres": {
    usesPostgres: true,
    load: async () => (await import("./toolwright.ts")).onPostgres,
  },
  "ai-sdk": { usesPostgres: false, load: () => peer("ai-sdk") },
  langgraph: { usesPostgres: false, load: () => peer("langgraph") },
  dbos: { usesPostgres: true, load: () => peer("dbos") },
  mastra: { usesPostgres: false, load: () => peer("mastra") },
  "openai-agents": { usesPostgres: false, load: () => peer("openai-agents") },
  cognipeer: { usesPostgres: false, load: () => peer("cognipeer") },
};

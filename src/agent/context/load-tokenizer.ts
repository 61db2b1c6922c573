/** The tokenizer of OpenAI's models, from an optional peer. It takes a moment and some memory to load: only for those models. */
import { mayBePlanted } from "../../sandbox/files/code-folders.ts";
import type { CountTokens } from "./count-tokens.ts";

const OPENAI = /^(?:openai\/)?(?:gpt-|chatgpt-|o\d)/;

/** A text without a break takes the square of its length: pieces of this length keep a hostile one harmless. */
const PIECE = 500;

/** `undefined` for other models, and where it is not installed. */
export async function loadTokenizer(modelId: string): Promise<CountTokens | undefined> {
  if (!OPENAI.test(modelId) || mayBePlanted("gpt-tokenizer")) return undefined;
  try {
    const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
    // Words such as <|endoftext|> are text like any other in what a tool returns.
    const options = { disallowedSpecial: new Set<string>() };
    return (text) => {
      let count = 0;
      for (let at = 0; at < text.length; at += PIECE)
        count += countTokens(text.slice(at, at + PIECE), options);
      return count;
    };
  } catch {
    return undefined;
  }
}

/** Loads the tokenizer for OpenAI models from an optional peer. It is slow and large, so only those models load it. */
import { importPeer } from "../../load/import-peer.ts";
import type { CountTokens } from "./count-tokens.ts";

const OPENAI = /^(?:openai\/)?(?:gpt-|chatgpt-|o\d)/;

/** The tokenizer is quadratic in text without breaks: splitting bounds the cost of hostile input. */
const PIECE = 500;

/** `undefined` for other models, and when it is not installed. */
export async function loadTokenizer(modelId: string): Promise<CountTokens | undefined> {
  if (!OPENAI.test(modelId)) return undefined;
  try {
    const { countTokens } = await importPeer(
      "gpt-tokenizer",
      () => import("gpt-tokenizer/encoding/o200k_base"),
    );
    // In tool results, words such as <|endoftext|> are plain text.
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

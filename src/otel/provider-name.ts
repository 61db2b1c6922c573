/** The names of model providers in the GenAI conventions, by the names that the AI SDK gives them. */
const WELL_KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^anthropic|^vertex\.anthropic/, "anthropic"],
  [/^azure/, "azure.ai.openai"],
  [/^openai/, "openai"],
  [/^amazon-bedrock|^bedrock/, "aws.bedrock"],
  [/^google\.vertex|^vertex/, "gcp.vertex_ai"],
  [/^google/, "gcp.gemini"],
  [/^mistral/, "mistral_ai"],
  [/^xai/, "x_ai"],
  [/^moonshot/, "moonshot_ai"],
];

/** `_OTHER` if the library does not say. */
export function providerName(provider: string | undefined): string {
  if (provider === undefined || provider === "") return "_OTHER";
  const known = WELL_KNOWN.find(([pattern]) => pattern.test(provider));
  // "groq.chat" is the provider groq; deepseek, cohere, groq and perplexity have the same names there and here.
  return known?.[1] ?? provider.split(".")[0] ?? provider;
}

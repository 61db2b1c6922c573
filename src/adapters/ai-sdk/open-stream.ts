/** Agents of tasks are called through `stream` whether or not users choose so, so a model that only gives whole responses works too. */
import type { LanguageModelLike } from "../../model/sdk-model.ts";

/** @param toStream makes a stream of a whole response */
export async function openStream<Request>(
  model: LanguageModelLike<Request>,
  request: Request,
  toStream: (response: object) => ReadableStream<unknown>,
): Promise<ReadableStream<unknown>> {
  const whole = async (): Promise<ReadableStream<unknown>> => toStream(await model.doGenerate(request));
  if (typeof model.doStream !== "function") return whole();
  let opened: { readonly stream: ReadableStream<unknown> } | undefined;
  try {
    opened = await model.doStream(request);
  } catch (error) {
    if (isUnsupported(error)) return whole();
    if (!isMock(model)) throw error;
    // A mock may implement only one of the two, and throws for the other.
    return whole().catch(() => {
      throw error;
    });
  }
  return opened === undefined ? whole() : opened.stream;
}

/** How AI SDK providers refuse what a model cannot do. Each copy of the SDK has its own class, with the same name. */
function isUnsupported(error: unknown): boolean {
  return error instanceof Error && error.name === "AI_UnsupportedFunctionalityError";
}

/** The models of `ai/test` have both functions, and keep a list of the requests to each. */
function isMock(model: object): boolean {
  return "doStreamCalls" in model && Array.isArray(model.doStreamCalls);
}

/** Reads the JSON body of a write: of the right type, of limited size, within limited time. */
import { HttpError } from "./http-error.ts";

export const LARGEST_BODY_BYTES = 1_048_576;

/** The store takes values of up to 1,000 levels, and code that walks a value may recurse. */
const DEEPEST_BODY = 500;

/** A body of 1 MiB arrives within this time on a link of 1 Mbit/s. */
export const BODY_TIMEOUT_MS = 10_000;

/** `undefined` if it is empty. @throws HttpError */
export async function readJsonBody(request: Request, timeoutMs: number = BODY_TIMEOUT_MS): Promise<unknown> {
  checkType(request.headers.get("content-type"));
  const length = Number(request.headers.get("content-length") ?? "0");
  if (!(length <= LARGEST_BODY_BYTES)) throw tooLarge();
  const bytes = await readAll(request.body, timeoutMs);
  // Clients that are generated from the description send the type also where they leave out an optional body.
  if (bytes.length === 0) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new HttpError(
      "HTTP_BAD_REQUEST",
      "The body is not valid JSON.",
      "Send a JSON object, encoded as UTF-8.",
    );
  }
  if (depthOf(text) <= DEEPEST_BODY) return value;
  throw new HttpError(
    "HTTP_BODY_INVALID",
    `The body is nested more than ${DEEPEST_BODY} levels deep.`,
    "Send a value with fewer levels.",
  );
}

/** @param json valid. A loop over characters: a regular expression over a long string may overflow its stack. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === '"') isInString = !isInString;
    else if (isInString) index += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") deepest = Math.max(deepest, (depth += 1));
    else if (character === "]" || character === "}") depth -= 1;
  }
  return deepest;
}

/** A form or a plain text can be sent across origins without a preflight, so only JSON is accepted. */
function checkType(type: string | null): void {
  const [name = "", ...parameters] = (type ?? "").split(";").map((part) => part.trim().toLowerCase());
  const isUtf8 = parameters.every((one) => one === "" || /^charset="?utf-?8"?$/.test(one));
  if (name === "application/json" && isUtf8) return;
  throw new HttpError(
    "HTTP_UNSUPPORTED_TYPE",
    `The body must be application/json, not ${JSON.stringify((type ?? "").slice(0, 100))}.`,
    "Set the header Content-Type: application/json.",
    // The rest of a body that is not read must not be mistaken for the next request.
    { connection: "close" },
  );
}

async function readAll(
  body: ReadableStream<Uint8Array> | null,
  timeoutMs: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(
      new HttpError(
        "HTTP_TIMEOUT",
        `The body did not arrive within ${timeoutMs} ms.`,
        "Send the whole body at once.",
        { connection: "close" },
      ),
    );
  }, timeoutMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late.promise]);
      if (done) return Buffer.concat(chunks);
      size += value.byteLength;
      if (size > LARGEST_BODY_BYTES) throw tooLarge();
      chunks.push(value);
    }
  } catch (error) {
    // The client may have disconnected: then there is nothing left to cancel.
    reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(): HttpError {
  return new HttpError(
    "HTTP_BODY_TOO_LARGE",
    `The body is larger than ${LARGEST_BODY_BYTES} bytes.`,
    "Send a smaller body.",
    { connection: "close" },
  );
}

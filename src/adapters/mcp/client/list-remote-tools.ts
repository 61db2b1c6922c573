/** All tools of a server, page by page. A server that hangs, dies or sends nonsense is an error in words. */
import { ToolwrightError } from "../../../errors.ts";
import { messageOf } from "../../../invoke/error-record.ts";
import { isUnsafeForTerminal } from "../../../terminal/terminal-text.ts";
import { bytesOf, MAX_ANSWER_BYTES } from "./answer-size.ts";
import { isDisconnected, type McpClient, type RemoteTool, remoteTool, toolPage } from "./mcp-client.ts";

const LIST_TIMEOUT_MS = 30_000;
const MOST_PAGES = 1_000;
const MAX_TOOLS = 1_000;

/** MCP asks for 128 at most. */
const LONGEST_NAME = 256;

export interface ListOptions {
  readonly timeoutMs?: number | undefined;
  /** Default 1,000. */
  readonly maxTools?: number | undefined;
  /** Of all pages together. Default 16 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RemoteTools {
  readonly tools: readonly RemoteTool[];
  /** Entries that are no tools, in words. */
  readonly unusable: readonly string[];
}

/** @throws TOOL_EXECUTION_FAILED, with `effect: "none"` */
export async function listRemoteTools(client: McpClient, options: ListOptions = {}): Promise<RemoteTools> {
  const timeout = options.timeoutMs ?? LIST_TIMEOUT_MS;
  const deadline = AbortSignal.timeout(timeout);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
  const tools = new Map<string, RemoteTool>();
  const unusable: string[] = [];
  const { maxTools = MAX_TOOLS, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  let entries = 0;
  let bytes = 0;
  try {
    if (isDisconnected(client)) throw new Error("the client is not connected");
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const answer = await nextPage(client, cursor, { signal, timeout });
      bytes += bytesOf(answer, maxAnswerBytes);
      if (bytes > maxAnswerBytes) {
        throw new Error(`the list has more than ${maxAnswerBytes} bytes (maxAnswerBytes)`);
      }
      const page = toolPage.parse(answer);
      entries += page.tools.length;
      if (entries > maxTools) throw new Error(`it lists more than ${maxTools} tools (maxTools)`);
      for (const entry of page.tools) {
        const { success, data, error } = remoteTool.safeParse(entry);
        if (!success) unusable.push(`an entry is no tool (${error.issues[0]?.path.join(".")})`);
        else if (isUnsafeForTerminal(data.name) || data.name.length > LONGEST_NAME)
          unusable.push(`${JSON.stringify(data.name.slice(0, LONGEST_NAME))} is no name of a tool`);
        else if (tools.has(data.name)) unusable.push(`"${data.name}" is listed twice`);
        else tools.set(data.name, data);
      }
      if (page.nextCursor === undefined) return { tools: [...tools.values()], unusable };
      cursor = page.nextCursor;
    }
    throw new Error(`there is no end after ${MOST_PAGES} pages`);
  } catch (cause) {
    const reason = deadline.aborted ? `no answer within ${timeout} ms` : messageOf(cause);
    throw new ToolwrightError("TOOL_EXECUTION_FAILED", `The MCP server's tools cannot be listed: ${reason}`, {
      hint: reason.includes("(max")
        ? "Raise the limit in the options of the import, if the server is trusted."
        : "Continue with other tools; this server may be back later.",
      effect: "none",
      cause,
    });
  }
}

/** Ends with the signal, whatever the client does. */
function nextPage(
  client: McpClient,
  cursor: string | undefined,
  options: { signal: AbortSignal; timeout: number },
): Promise<unknown> {
  const { promise, reject, resolve } = Promise.withResolvers<unknown>();
  const stop = (): void => reject(options.signal.reason);
  options.signal.addEventListener("abort", stop, { once: true });
  client
    .listTools(cursor === undefined ? undefined : { cursor }, options)
    .then(resolve, reject)
    .finally(() => options.signal.removeEventListener("abort", stop));
  return promise;
}

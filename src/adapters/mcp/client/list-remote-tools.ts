/**
 * Lists all tools of a server, page by page. A server that hangs, disconnects or sends invalid data causes an error.
 */
import { ToolwrightError } from "../../../errors.ts";
import { messageOf } from "../../../invoke/error-record.ts";
import { isUnsafeForTerminal } from "../../../terminal/terminal-text.ts";
import { bytesOf, MAX_ANSWER_BYTES } from "./response-size.ts";
import { isDisconnected, type McpClient, type RemoteTool, remoteTool, toolPage } from "./mcp-client.ts";

const LIST_TIMEOUT_MS = 30_000;
const MAX_PAGES = 1_000;
const MAX_TOOLS = 1_000;

/** MCP recommends at most 128. */
const MAX_NAME_LENGTH = 256;

export interface ListOptions {
  readonly timeoutMs?: number | undefined;
  /** Default 1,000. */
  readonly maxTools?: number | undefined;
  /** The limit for all pages together. Default 16 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RemoteTools {
  readonly tools: readonly RemoteTool[];
  /** Why entries were skipped. */
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
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
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
        if (!success) unusable.push(`an entry is not a valid tool (${error.issues[0]?.path.join(".")})`);
        else if (isUnsafeForTerminal(data.name) || data.name.length > MAX_NAME_LENGTH)
          unusable.push(`${JSON.stringify(data.name.slice(0, MAX_NAME_LENGTH))} is not a valid tool name`);
        else if (tools.has(data.name)) unusable.push(`"${data.name}" is listed twice`);
        else tools.set(data.name, data);
      }
      if (page.nextCursor === undefined) return { tools: [...tools.values()], unusable };
      cursor = page.nextCursor;
    }
    throw new Error(`the list has more than ${MAX_PAGES} pages`);
  } catch (cause) {
    const reason = deadline.aborted ? `no answer within ${timeout} ms` : messageOf(cause);
    throw new ToolwrightError("TOOL_EXECUTION_FAILED", `The MCP server's tools cannot be listed: ${reason}`, {
      hint: reason.includes("(max")
        ? "If the server is trusted, raise the limit in the options of the import."
        : "Continue with other tools; this server may be available later.",
      effect: "none",
      cause,
    });
  }
}

/** Rejects when the signal fires, even if the client ignores it. */
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

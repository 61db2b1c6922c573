/** All tools of a server, page by page. A server that hangs, dies or sends nonsense is an error in words. */
import { ToolwrightError } from "../../../errors.ts";
import { messageOf } from "../../../invoke/error-record.ts";
import { isDisconnected, type McpClient, type RemoteTool, remoteTool, toolPage } from "./mcp-client.ts";

const LIST_TIMEOUT_MS = 30_000;
const MOST_PAGES = 1_000;

export interface ListOptions {
  readonly timeoutMs?: number | undefined;
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
  try {
    if (isDisconnected(client)) throw new Error("the client is not connected");
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const page = toolPage.parse(await nextPage(client, cursor, { signal, timeout }));
      for (const entry of page.tools) {
        const { success, data, error } = remoteTool.safeParse(entry);
        if (!success) unusable.push(`an entry is no tool (${error.issues[0]?.path.join(".")})`);
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
      hint: "Go on with other tools; this server may be back later.",
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

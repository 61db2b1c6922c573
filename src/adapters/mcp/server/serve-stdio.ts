/** Serves tools to the one client that started this process, over its stdin and stdout. */
import { toTerminalLine } from "../../../terminal/terminal-text.ts";
import type { Writable } from "node:stream";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { withMethods } from "../../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../../definition/option-table.ts";
import { createServerFactory, MCP_SERVER_CHECKS, type McpServerOptions } from "./create-server.ts";
import { keepStdout } from "./keep-stdout.ts";

export interface McpStdioOptions extends McpServerOptions {
  /** Where the protocol is written. Default: stdout, which nothing else can write to from then on. */
  readonly output?: Writable | undefined;
}

export interface McpStdioServer extends AsyncDisposable {
  /** Resolves when the client has gone; what was in flight is cut off. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export const MCP_STDIO_OPTIONS: OptionTable = optionTable<McpStdioOptions>("serveMcpStdio", {
  ...MCP_SERVER_CHECKS,
  output: withMethods("a writable stream", "write"),
});

export function serveMcpStdio(options: McpStdioOptions): McpStdioServer {
  // Before stdout is taken: a refused call leaves it as it was.
  checkOptions(MCP_STDIO_OPTIONS, options);
  const kept = options.output === undefined ? keepStdout() : undefined;
  const transport = new WatchedTransport(process.stdin, options.output ?? kept?.stream);
  const handle = serveStdio(createServerFactory(options), { transport, onerror: complain });
  const closed = transport.closed.promise.then(() => kept?.[Symbol.dispose]());
  const close = (): Promise<void> => handle.close();
  return { closed, close, [Symbol.asyncDispose]: close };
}

/** Closes itself when the client has gone, and says so. */
class WatchedTransport extends StdioServerTransport {
  readonly closed = Promise.withResolvers<void>();

  override async close(): Promise<void> {
    await super.close();
    this.closed.resolve();
  }
}

/** For the person who reads the server's log; a client that sends nonsense is not answered with more. */
function complain(error: Error): void {
  console.error(`toolwright: MCP: ${toTerminalLine(error.message)}`);
}

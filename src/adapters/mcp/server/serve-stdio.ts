/** Serves tools over stdin and stdout to the client that started this process. */
import { toTerminalLine } from "../../../terminal/terminal-text.ts";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { withMethods } from "../../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../../definition/option-table.ts";
import { createServerFactory, MCP_SERVER_CHECKS, type McpServerOptions } from "./create-server.ts";
import { reserveStdoutForProtocol } from "./protocol-stream.ts";

export interface McpStdioOptions extends McpServerOptions {
  /**
   * The stream for the protocol, a Node `Writable`. Default: stdout, which other writers can no longer use then.
   * Typed by the peer: this declaration would otherwise not compile without Node's types.
   */
  readonly output?: ConstructorParameters<typeof StdioServerTransport>[1] | undefined;
}

export interface McpStdioServer extends AsyncDisposable {
  /** Resolves when the client has disconnected. Calls in flight are aborted. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export const MCP_STDIO_OPTIONS: OptionTable = optionTable<McpStdioOptions>("serveMcpStdio", {
  ...MCP_SERVER_CHECKS,
  output: withMethods("a writable stream", "write"),
});

export function serveMcpStdio(options: McpStdioOptions): McpStdioServer {
  // Before stdout is redirected: invalid options must leave it unchanged.
  checkOptions(MCP_STDIO_OPTIONS, options);
  const stdout = options.output === undefined ? reserveStdoutForProtocol() : undefined;
  const transport = new WatchedTransport(process.stdin, options.output ?? stdout?.stream);
  const handle = serveStdio(createServerFactory(options), { transport, onerror: logError });
  const closed = transport.closed.promise.then(() => stdout?.[Symbol.dispose]());
  const close = (): Promise<void> => handle.close();
  return { closed, close, [Symbol.asyncDispose]: close };
}

/** Closes when the client disconnects, and resolves `closed`. */
class WatchedTransport extends StdioServerTransport {
  readonly closed = Promise.withResolvers<void>();

  override async close(): Promise<void> {
    await super.close();
    this.closed.resolve();
  }
}

/** Protocol errors go to the server's log, not to the client. */
function logError(error: Error): void {
  console.error(`toolwright: MCP: ${toTerminalLine(error.message)}`);
}

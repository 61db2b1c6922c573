/** Starts an HTTP server. An address that cannot be used gives an error that says what to change. */
import { once } from "node:events";
import type { Server } from "node:http";
import { ToolwrightError } from "../errors.ts";

interface Address {
  /** The function in the error, for example `serve`. */
  readonly surface: string;
  /** Default: every address of this machine, even where there is no IPv6. */
  readonly host?: string | undefined;
  readonly port: number;
}

/** What is wrong with a port. Any other error is about the host. */
const PORT_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses it",
  EACCES: "this user has no permission to use it",
};

/** @throws TOOL_OPTION_INVALID */
export async function listen(server: Server, { surface, host, port }: Address): Promise<void> {
  server.listen({ port, host });
  try {
    await once(server, "listening");
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const ofPort = PORT_PROBLEMS[code];
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      `${surface}: cannot listen on ${host === undefined ? "port " : `${host}:`}${port}: ${ofPort ?? message}.`,
      {
        hint:
          ofPort === undefined
            ? "Use an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them."
            : "Choose another port, or 0 for a free one.",
        details: { option: ofPort === undefined ? "host" : "port" },
        cause: error,
      },
    );
  }
}

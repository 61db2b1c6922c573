/** `toolwright serve`: serves the runs of a store as an HTTP API and a page. */
import type { Command } from "commander";
import { type Acting, acting, examples, withCommonOptions } from "../command.ts";
import { wholeNumber } from "../parse-options.ts";
import type { CommonOptions } from "../screen.ts";

export interface ServeCommandOptions extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly open?: boolean;
  readonly readOnly?: boolean;
  readonly worker?: boolean;
  readonly token?: string;
  readonly allowedHost?: readonly string[];
  readonly allowedOrigin?: readonly string[];
}

export function addServeCommand(program: Command): void {
  const command = program
    .command("serve")
    .summary("serve runs and approvals as a page and an API")
    .description(
      "Serves the runs of a store on this machine: a page to watch them and to decide approvals, and an HTTP API.",
    )
    .option("--port <port>", "the port; 0 takes a free one (default: 4983)", wholeNumber(0, 65_535))
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .option("--open", "open the page in the browser")
    .option("--read-only", "refuse decisions and commands")
    .option("--worker", "also take runs that are ready, as `toolwright worker` does")
    .option("--token <token>", "the token of API clients (default: TOOLWRIGHT_TOKEN, else a new one)")
    .option("--allowed-host <names...>", "more names that clients may use for this server")
    .option("--allowed-origin <origins...>", "origins of other pages that may write");
  withCommonOptions(command)
    .addHelpText(
      "after",
      `${examples(
        "toolwright serve",
        "toolwright serve --port 8080 --read-only",
        "TOOLWRIGHT_TOKEN=… toolwright serve --host 0.0.0.0",
      )}

The printed link signs one browser in, once. Another address than loopback
needs TOOLWRIGHT_TOKEN or --token. Other users of this machine can see the
arguments of a command, so prefer TOOLWRIGHT_TOKEN.`,
    )
    .action(
      acting(async ({ screen, options }: Acting<ServeCommandOptions>) => {
        const { serveStore } = await import("../serve-store.ts");
        return serveStore(screen, options);
      }),
    );
}

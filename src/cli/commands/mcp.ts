/** `toolwright mcp`: serves the tools of this folder's config to MCP clients. */
import { type Command, Option } from "commander";
import { type Acting, acting, examples, STORE_HELP } from "../command.ts";
import { CliError } from "../cli-error.ts";
import { wholeNumber } from "../parse-options.ts";

interface McpOptions {
  readonly http?: number | true;
  readonly host?: string;
  readonly store?: string;
  readonly approvals: "elicit" | "wait";
  readonly json?: boolean;
}

export function addMcpCommand(program: Command): void {
  program
    .command("mcp")
    .summary("serve tools to MCP clients")
    .description(
      "Serves the tools in toolwright.config.ts to an MCP client: over stdin and stdout, or over HTTP on this machine.",
    )
    .option(
      "--http [port]",
      "serve over HTTP with a bearer token (default: any free port)",
      wholeNumber(0, 65_535),
    )
    .option("--host <address>", "the address that HTTP listens on (default: 127.0.0.1)")
    .option("--store <path>", STORE_HELP)
    .addOption(
      new Option(
        "--approvals <who>",
        "who approves: the user of the client (elicit), or only users of the store (wait)",
      )
        .choices(["elicit", "wait"])
        .default("elicit"),
    )
    .option("--json", "with --http: print the address and the token as JSON, for programs")
    .option("--debug", "print stack traces")
    .addHelpText(
      "after",
      `${examples("toolwright mcp", "toolwright mcp --http 7010")}

The HTTP token is the value of TOOLWRIGHT_MCP_TOKEN. Without it, a new one is
printed on stderr.`,
    )
    .action(
      acting(
        async ({ screen, options }: Acting<McpOptions>) => {
          if (options.json === true && options.http === undefined) {
            throw new CliError(
              "CLI_USAGE",
              "--json needs --http: over stdin and stdout, stdout carries the protocol.",
              "Add --http, or leave --json out.",
            );
          }
          const { serveMcp } = await import("../serve-mcp.ts").catch(asMissingPackage);
          return serveMcp(process.cwd(), options, screen);
        },
        { isStoreOpened: false },
      ),
    );
}

function asMissingPackage(error: unknown): never {
  const message = error instanceof Error ? error.message : "";
  const [missing] = /@modelcontextprotocol\/\w+/.exec(message) ?? [];
  if (missing === undefined) throw error;
  throw new CliError(
    "CLI_IMPORT_MISSING",
    `toolwright mcp needs the package "${missing}", which is not installed.`,
    `Install it with: npm install ${missing}`,
  );
}

/** Serves the tools of a folder's config to MCP clients, until the client disconnects or a signal arrives. */
import { toTerminalJson, toTerminalLine } from "../terminal/terminal-text.ts";
import { resolve } from "node:path";
import { reserveStdoutForProtocol } from "../adapters/mcp/server/protocol-stream.ts";
import { serveMcpHttp } from "../adapters/mcp/server/serve-http.ts";
import { serveMcpStdio } from "../adapters/mcp/server/serve-stdio.ts";
import type { McpServerOptions } from "../adapters/mcp/server/create-server.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./command.ts";
import { type Config, loadConfig, runtimeOptionsOf } from "./load-config.ts";
import type { Screen } from "./screen.ts";
import { readManifest } from "../load/package-root.ts";
import { stopOnSignals } from "../terminal/stop-on-signals.ts";
import { surviveUnhandledErrors } from "./survive-errors.ts";

export const TOKEN_VARIABLE = "TOOLWRIGHT_MCP_TOKEN";

export interface ServeMcpOptions {
  readonly store?: string | undefined;
  /** `true`: any free port. */
  readonly http?: number | true | undefined;
  readonly host?: string | undefined;
  readonly approvals: "elicit" | "wait";
}

export async function serveMcp(folder: string, options: ServeMcpOptions, screen: Screen): Promise<number> {
  // Before any user code is loaded: stdout carries the protocol and nothing else.
  using kept = reserveStdoutForProtocol();
  surviveUnhandledErrors("a tool");
  const config = await readConfig(folder);
  await using runtime = createRuntime({
    ...runtimeOptionsOf(config),
    store: options.store ?? config.store,
    rootDir: resolve(folder, config.rootDir ?? "."),
    tools: config.tools,
  });
  await runtime.ready();
  const served: McpServerOptions = {
    tools: config.tools,
    runtime,
    approvals: options.approvals,
    version: readManifest().version,
  };
  using stop = stopOnSignals({
    onFirst: (name) => note(`${name}: stopping. Send it again to exit immediately.`),
    onOverdue: () => note("a call did not stop in time; exiting."),
    exitCode: () => EXIT.failed,
  });
  const stopped = new Promise<void>((done) => stop.signal.addEventListener("abort", () => done()));
  if (options.http === undefined) {
    await using server = serveMcpStdio({ ...served, output: kept.stream });
    await Promise.race([server.closed, stopped]);
    return EXIT.finished;
  }
  const given = process.env[TOKEN_VARIABLE];
  await using server = await serveMcpHttp({
    ...served,
    host: options.host,
    port: options.http === true ? undefined : options.http,
    token: given === "" ? undefined : given,
  });
  note(`serving ${config.tools.length === 1 ? "1 tool" : `${config.tools.length} tools`} at ${server.url}`);
  // A token from the environment is known already, and must not be printed.
  const isNew = given === undefined || given === "";
  if (screen.isJson) {
    const report = { url: server.url, token: isNew ? server.token : null, tools: config.tools.length };
    kept.stream.write(`${toTerminalJson(report)}\n`);
  } else if (isNew) note(`Authorization: Bearer ${server.token}`);
  await stopped;
  return EXIT.finished;
}

async function readConfig(folder: string): Promise<Config> {
  const config = await loadConfig(folder);
  if (config !== undefined) return config;
  throw new CliError(
    "CLI_CONFIG_MISSING",
    `There is no toolwright.config.ts in ${folder}.`,
    "Write one: export default { tools: [ … ] };",
  );
}

function note(text: string): void {
  process.stderr.write(`toolwright: ${toTerminalLine(text)}\n`);
}
